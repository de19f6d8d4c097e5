"""The method tried on verdicts of the same captions, judged twice: an A/A test.

The true difference is zero, so whatever is found is an error. In every redraw, the two verdicts of
a medium are swapped or not, by chance, and the questions are drawn in a new order. A difference
between the two sittings, such as a judge that has become stricter, goes away with swapping; it is
tested for apart, by how often swapping gives as large a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from caliper.analysis.draw_order import BLOCKS, Unit
from caliper.analysis.sequential.bound import SPREAD, p_value
from caliper.analysis.sequential.check_path import LEAST_DISCORDANT, StopCheck
from caliper.analysis.sequential.measure import Array
from caliper.analysis.sequential.sittings import Sittings, path_differences, path_looks
from caliper.analysis.sequential.strata import KnownScores, Scores, strata_of

REDRAWS = 10_000
_CHUNK = 200
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Redraws:
    """Results of the redraws. `changed` of `questions` got another verdict in the second sitting.

    `difference` is the second sitting minus the first in the unit of scores, `drift` the p-value of
    none. Shares of redraws: `alarms` are regressions, `alarms_at_margin` and `passes_at_margin`
    regressions and passes if the candidate is shifted down by the margin. `drawn` is the mean share
    of questions that were drawn until a decision at zero.
    """

    questions: int
    changed: int
    difference: float
    drift: float
    alarms: float
    alarms_at_margin: float
    passes_at_margin: float
    drawn: float


def redraw(
    units: Sequence[Unit],
    check: StopCheck,
    verdicts: tuple[Scores, Scores],
    alpha: float,
    redraws: int = REDRAWS,
) -> Redraws:
    """Try a check with its own margin, one-sided `alpha`. `verdicts` are scores by index; questions
    without both are left out. Raises ValueError if no question is left in a stratum of the check.
    """
    first, second = verdicts
    both = [
        unit
        for unit in units
        if unit.stratum in check.weights
        and first.get(unit.index) is not None
        and second.get(unit.index) is not None
    ]
    missing = check.weights.keys() - {unit.stratum for unit in both}
    if missing:
        raise ValueError(f"no questions of {', '.join(sorted(missing))}")
    sittings = _sittings(both, check, verdicts)
    draw = np.random.default_rng(0)
    weights = np.array(list(check.weights.values()))
    parts = [
        _chunk(sittings, check, weights, (min(_CHUNK, redraws - start), alpha), draw)
        for start in range(0, redraws, _CHUNK)
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    alarms, at_margin, passes, drawn, swapped = columns
    observed = path_differences(sittings, check, sittings.straight[None], weights)[0]
    extreme = np.count_nonzero(np.abs(swapped) >= abs(observed) - _ROUNDING)
    return Redraws(
        len(both),
        int(np.count_nonzero(sittings.straight != sittings.turned)),
        float(observed),
        (extreme + 1) / (redraws + 1),
        float(alarms.mean()),
        float(at_margin.mean()),
        float(passes.mean()),
        float(drawn.mean()),
    )


def _sittings(units: Sequence[Unit], check: StopCheck, verdicts: tuple[Scores, Scores]) -> Sittings:
    before, after = (
        check.measure.pairs(scores[unit.index] or 0.0 for unit in units) for scores in verdicts
    )
    rows = np.concatenate((np.hstack((before, after)), np.hstack((after, before))))
    kinds, numbers = np.unique(rows, axis=0, return_inverse=True)
    known = KnownScores(verdicts[0], repeats=verdicts[1])
    strata = strata_of(units, list(check.weights), check.measure, known)
    return Sittings(
        np.array([strata.codes[unit.index] for unit in units]),
        np.unique([unit.medium for unit in units], return_inverse=True)[1],
        numbers[: len(units)],
        numbers[len(units) :],
        np.hstack((np.ones((len(kinds), 1)), kinds)),
        strata.population,
    )


def _chunk(
    sittings: Sittings,
    check: StopCheck,
    weights: Array,
    extent: tuple[int, float],
    draw: Generator,
) -> tuple[Array, ...]:
    """Alarms at zero, alarms and passes at the margin, the share drawn, and the difference."""
    paths, alpha = extent
    swap = draw.random((paths, int(sittings.media.max()) + 1)) < 0.5
    kinds = np.where(swap[:, sittings.media], sittings.turned, sittings.straight)
    margin = check.margin or 0.0
    least, drawn = np.ones((4, BLOCKS, paths)), np.ones(BLOCKS)
    for block, look in enumerate(path_looks(sittings, check, kinds, draw)):
        enough = (look.discordant >= LEAST_DISCORDANT) | (block == BLOCKS - 1)
        difference, drawn[block] = look.difference, look.drawn
        distances = (-difference - margin, difference + margin, -difference, difference)
        for place, distance in enumerate(distances):
            p = p_value(distance, look.variance, SPREAD * margin**2)
            least[place, block] = np.where(enough, p, 1)
    certain = np.minimum.accumulate(least, axis=1) < alpha
    ended = certain[0] | certain[1]
    ended[-1] = True
    # At the margin, the finding that comes first counts.
    alarm = np.where(certain[2].any(axis=0), certain[2].argmax(axis=0), BLOCKS)
    passed = np.where(certain[3].any(axis=0), certain[3].argmax(axis=0), BLOCKS)
    falls, passes = (alarm <= passed) & (alarm < BLOCKS), passed < alarm
    last = ended.argmax(axis=0)
    alarms = certain[0][last, np.arange(paths)]
    shares = (np.asarray(one, dtype=np.float64) for one in (alarms, falls, passes, drawn[last]))
    return (*shares, path_differences(sittings, check, kinds, weights))
