"""The figure of a run that is judged in part, without a baseline.

Strata, draw and estimate are those of a comparison; the controls are the rules' verdicts alone. The
interval holds at one look, so the share has to be fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from caliper.analysis.drawing import Unit
from caliper.analysis.jackknife import NORMAL
from caliper.analysis.sequential.check_path import StopCheck
from caliper.analysis.sequential.estimate import FOLDS, Population, estimate
from caliper.analysis.sequential.known import Scores, centred_influence, filled_pairs
from caliper.analysis.sequential.measure import Array, Codes


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """A figure in the unit of scores with its 95% interval, as a full run of these questions would
    have it; `judged` of `questions` were asked about. Of questions without a verdict, `low` takes
    the worst and `high` the best. Without two verdicts in every stratum, the interval is all.
    """

    value: float
    low: float
    high: float
    judged: int
    questions: int


def judged_share(
    units: Sequence[Unit],
    blocks: Sequence[Sequence[int]],
    check: StopCheck,
    outcomes: Scores,
    rules: Scores | None = None,
) -> ShareEstimate:
    """Estimate the check's figure from the outcomes that are in, None for a question without a
    verdict. `blocks` are those of `draw_order`, `rules` the verdicts of lexical rules on all.
    """
    places = {name: place for place, name in enumerate(check.weights)}
    codes = {unit.index: places[unit.stratum] for unit in units if unit.stratum in places}
    code = np.fromiter(codes.values(), dtype=np.intp)
    size = np.bincount(code, minlength=len(places)).astype(np.float64)
    none = np.zeros_like(size)
    population = Population(size, size, none, none, none, none, paired=False)
    controls = _controls(check, rules, list(codes), code)
    columns = 3 + controls.shape[1]
    row_of = {index: row for row, index in enumerate(codes)}
    sums = np.zeros((2, FOLDS, len(places), columns, columns))
    worst, best = (-1.0, 1.0) if check.measure.is_of_mentions else (0.0, 1.0)
    judged = 0
    for number, block in enumerate(blocks):
        for index in block:
            if index in codes and index in outcomes:
                score, row = outcomes[index], row_of[index]
                ends = (worst, best) if score is None else (score, score)
                vectors = np.ones((2, columns))
                vectors[:, 1:3] = check.measure.pairs(ends)
                vectors[:, 3:] = controls[row]
                sums[:, number % FOLDS, code[row]] += vectors[:, :, None] * vectors[:, None, :]
                judged += 1
    weights = np.array(list(check.weights.values()))
    found = estimate(sums, population, check.measure)
    value = found.difference @ weights
    half = NORMAL * np.sqrt(found.variance(population) @ weights**2)
    low, high = max(worst, float(value[0] - half[0])), min(best, float(value[1] + half[1]))
    if (found.drawn[0] < np.minimum(size, 2)).any():
        low, high = worst, best
    return ShareEstimate(float(value.mean()), low, high, judged, len(codes))


def _controls(check: StopCheck, rules: Scores | None, indexes: Sequence[int], code: Codes) -> Array:
    """The influences in the rules' verdicts, shape (n, 1); (n, 0) without rules."""
    if rules is None:
        return np.zeros((len(indexes), 0))
    pairs = filled_pairs(check.measure, rules, indexes)
    return centred_influence(pairs, check.measure, code, np.ones(len(indexes), dtype=bool))[:, None]
