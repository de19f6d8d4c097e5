"""Recorded verdicts of two runs, drawn anew many times: how often a look is wrong at the margin.

The true difference is that of all recorded verdicts. What is found in a redraw is an error if the
candidate is shifted so that it drops by the margin.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from caliper.analysis.draw_order import BLOCKS, Unit
from caliper.analysis.sequential.bound import SPREAD, p_value
from caliper.analysis.sequential.check_path import LEAST_DISCORDANT, StopCheck
from caliper.analysis.sequential.measure import Measure
from caliper.analysis.sequential.sittings import Sittings, path_differences, path_looks
from caliper.analysis.sequential.strata import KnownScores, Scores, strata_of

_CHUNK = 200


@dataclass(frozen=True, slots=True)
class RecordedPair:
    """The verdicts of a baseline and a candidate by index. `repeats` are fresh verdicts on the
    baseline's captions; without any, the judge counts as one without noise.
    """

    units: Sequence[Unit]
    before: Scores
    after: Scores
    repeats: Scores = field(default_factory=dict)

    @classmethod
    def read(cls, base: Path, candidate: Path) -> RecordedPair:
        """The pair in two run directories, with what was judged again of the baseline."""
        rows = {str(each["question_id"]): each for each in _rows(base)}
        index = {name: place for place, name in enumerate(rows)}
        units = [
            Unit(index[name], f"{row['benchmark']}/{row['task']}", row["cluster"])
            for name, row in rows.items()
        ]
        again = base / "again" / "run"
        scores = (_scores(folder, index) for folder in (base, candidate, again))
        return cls(units, *scores)


@dataclass(frozen=True, slots=True)
class RedrawnErrors:
    """Shares of redraws that were wrong at the margin, the true `difference`, and the share of
    questions whose verdict differs.
    """

    alarms: float
    passes: float
    difference: float
    changed: float


def _rows(folder: Path) -> list[Mapping[str, str]]:
    file = folder / "verdicts.jsonl"
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _scores(folder: Path, index: Mapping[str, int]) -> dict[int, float | None]:
    rows = {index[row["question_id"]]: row.get("score") for row in _rows(folder)}
    return {place: None if score is None else float(score) for place, score in rows.items()}


def redraw_pair(
    pair: RecordedPair, margin: float, measure: Measure, alpha: float, paths: int
) -> RedrawnErrors:
    """Draw a pair anew; the figure is the mean over its strata."""
    units = [
        unit
        for unit in pair.units
        if pair.before.get(unit.index) is not None and pair.after.get(unit.index) is not None
    ]
    strata = sorted({unit.stratum for unit in units})
    check = StopCheck("average", dict.fromkeys(strata, 1 / len(strata)), measure, margin)
    sittings = _pair_sittings(pair, units, check)
    weights, draw = np.array(list(check.weights.values())), np.random.default_rng(0)
    truth = path_differences(sittings, check, sittings.straight[None], weights)[0]
    wrong = np.zeros(2)
    for start in range(0, paths, _CHUNK):
        count = min(_CHUNK, paths - start)
        wrong += _chunk_errors(sittings, check, (count, alpha, float(truth)), draw)
    differs = (sittings.kinds[:, 1:3] != sittings.kinds[:, 3:]).any(axis=1)
    changed = float(differs[sittings.straight].mean())
    alarms, passes = (float(each) for each in wrong / paths)
    return RedrawnErrors(alarms, passes, float(truth), changed)


def _pair_sittings(pair: RecordedPair, units: Sequence[Unit], check: StopCheck) -> Sittings:
    before, after = (
        check.measure.pairs(scores[unit.index] or 0.0 for unit in units)
        for scores in (pair.before, pair.after)
    )
    kinds, numbers = np.unique(np.hstack((before, after)), axis=0, return_inverse=True)
    known = KnownScores(pair.before, repeats=pair.repeats, deterministic=not pair.repeats)
    strata = strata_of(units, list(check.weights), check.measure, known)
    return Sittings(
        np.array([strata.codes[unit.index] for unit in units]),
        np.unique([unit.medium for unit in units], return_inverse=True)[1],
        numbers,
        numbers,
        np.hstack((np.ones((len(kinds), 1)), kinds)),
        strata.population,
    )


def _chunk_errors(
    sittings: Sittings,
    check: StopCheck,
    extent: tuple[int, float, float],
    draw: np.random.Generator,
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How many paths raise an alarm, and how many pass."""
    paths, alpha, truth = extent
    kinds = np.repeat(sittings.straight[None], paths, axis=0)
    spread = SPREAD * (check.margin or 0.0) ** 2
    first = np.full((2, paths), BLOCKS)
    # At the last look all is known, and the candidate is at the margin: nothing can be found.
    for block, look in enumerate(islice(path_looks(sittings, check, kinds, draw), BLOCKS - 1)):
        distance = look.difference - truth
        enough = look.discordant >= LEAST_DISCORDANT
        for side, signed in enumerate((-distance, distance)):
            sure = enough & (p_value(signed, look.variance, spread) < alpha)
            first[side] = np.where(sure, np.minimum(first[side], block), first[side])
    alarms, passes = first
    return np.array([((alarms <= passes) & (alarms < BLOCKS)).sum(), (passes < alarms).sum()])
