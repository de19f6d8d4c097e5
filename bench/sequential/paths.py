"""Simulated paths of comparisons, many at a time, by the estimate and the bound of the package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bench.sequential.questions import (
    ALPHA,
    SCORES,
    Controls,
    Integers,
    Kinds,
    Scenario,
    drawn,
    questions,
)
from caliper.analysis.draw_order import BLOCKS
from caliper.analysis.sequential.bound import SPREAD, p_value, rare_losses_p
from caliper.analysis.sequential.check_path import LEAST_DISCORDANT
from caliper.analysis.sequential.estimate import FOLDS, Population, estimate
from caliper.analysis.sequential.measure import Array, Measure

_CHUNK = 200
_rare_losses_p = cache(rare_losses_p)
Number = TypeVar("Number", np.int64, np.float64)
_RAW = 9
_ROUNDING = 1e-8
"""1, then c and h of baseline, candidate, and rules on both captions."""


@dataclass(frozen=True, slots=True)
class Paths:
    """What came of the paths: shares of those that regressed and passed, and the mean share of the
    calls that were not made.
    """

    regressed: float
    passed: float
    saved: float


def simulate(scenario: Scenario, paths: int, seed: int) -> Paths:
    """Simulate paths, in chunks with questions of their own."""
    draw = np.random.default_rng(seed)
    parts = []
    for start in range(0, paths, _CHUNK):
        kinds = drawn(questions(scenario, draw), scenario, min(_CHUNK, paths - start), draw)
        parts.append(_outcome(scenario, *p_values(scenario, kinds, draw)))
    regressed, passed, calls = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Paths(float(regressed.mean()), float(passed.mean()), float(1 - calls.mean()))


def _outcome(scenario: Scenario, regressed: Array, passed: Array) -> tuple[Array, Array, Array]:
    """Which paths regressed and which passed, and the share of calls made; p-values are (looks,
    paths, checks), the average first, then strata.
    """
    passes = np.minimum.accumulate(passed, axis=0) < ALPHA
    # One that has passed regresses no more.
    before = np.concatenate((np.zeros_like(passes[:1]), passes[:-1]))
    counted = np.where(before, 1, regressed)
    least = np.minimum.accumulate(counted, axis=0).min(axis=-1, keepdims=True)
    falls = np.less(least[..., 0] * regressed.shape[-1], scenario.alarm)
    ended = np.logical_or(falls, np.all(passes, axis=-1))
    undecided = ~ended[-1]
    ended[-1] = True
    last = ended.argmax(axis=0)
    paths = np.arange(len(last))
    share = np.bincount(scenario.block_of, minlength=BLOCKS).cumsum() / scenario.size
    passes[-1] = True
    until = np.minimum(passes.argmax(axis=0), last[:, None])
    if not scenario.closes:
        until[:] = last[:, None]
    # A stratum is drawn for the average and for its own check.
    calls = share[np.maximum(until[:, :1], until)][:, -scenario.strata :].mean(axis=-1)
    fell = falls[last, paths]
    everything = ~fell & ~undecided
    return fell, everything, calls


def p_values(scenario: Scenario, kinds: Kinds, draw: Generator) -> tuple[Array, Array]:
    """P-values of a regression and of a pass by look, path and check."""
    counts, scores = _counts(scenario, kinds)
    sums = _sums(scenario, counts, scores)
    population, transform, truth = _known(scenario, sums.sum(axis=1), draw)
    changes = scores[:, 1] - scores[:, 0]
    losses, discordant = ((counts @ one).cumsum(axis=1) for one in (changes < 0, changes != 0))
    size = transform.shape[2]
    folds = _paths_first(np.zeros((FOLDS, scenario.strata, size, size, len(kinds))))
    checks = _checks(scenario, -truth)
    values = np.ones((2, BLOCKS, len(kinds), len(checks)))
    for block in range(BLOCKS):
        folds[:, block % FOLDS] += _transformed(sums[:, block], transform)
        found = estimate(folds, population, scenario.measure)
        variances = found.variance(population)
        for place, (weights, margin) in enumerate(checks):
            difference, variance = found.difference @ weights, variances @ weights**2
            spread = SPREAD * margin**2
            many = discordant[:, block] @ (weights > 0) >= LEAST_DISCORDANT
            many |= block == BLOCKS - 1
            values[0, block, :, place] = np.where(
                many, p_value(-(difference + margin), variance, spread), 1
            )
            values[1, block, :, place] = np.where(
                many,
                p_value(difference + margin + _ROUNDING * (truth > -margin), variance, spread),
                1,
            )
            if place == 0 and not many.all():
                lost = losses[~many, block].sum(axis=-1)
                values[1, block, ~many, 0] = _exact(scenario, block, population, lost)
    return values[0], values[1]


def _checks(scenario: Scenario, drop: float) -> list[tuple[Array, float]]:
    """Weights of strata and margins. At the margin, it is the true drop of these questions."""
    strata = scenario.strata
    at_margin = scenario.gain == -scenario.margin and not scenario.flips
    checks = [(np.full(strata, 1 / strata), drop if at_margin else scenario.margin)]
    if scenario.task_margin:
        checks += [(row, scenario.task_margin) for row in np.eye(strata)]
    return checks


def _exact(scenario: Scenario, block: int, population: Population, lost: Integers) -> Array:
    """The p-values of a pass by the number of losses, as in `CheckPath`."""
    count = scenario.strata * scenario.asked
    seen = int((scenario.block_of <= block).sum()) * scenario.strata
    noise = float(np.mean(population.noise / scenario.asked)) / scenario.strata
    margin = scenario.margin - 2 * (noise * (1 - scenario.reused) ** 2) ** 0.5
    reach = 2.0 if scenario.measure is Measure.F1 else 1.0
    least = int(np.ceil(margin / reach * scenario.strata * scenario.size - 1e-6))
    numbers, places = np.unique(lost, return_inverse=True)
    values = [_rare_losses_p(int(number), seen, count, least) for number in numbers]
    adjusted: Array = np.minimum(1.0, BLOCKS * np.array(values))
    return adjusted[places]


def _counts(scenario: Scenario, kinds: Kinds) -> tuple[Integers, Integers]:
    """The number of questions of each kind, shape (paths, blocks, strata, kinds), and the scores of
    these kinds, of which there are few.
    """
    paths, strata, _ = kinds.shape
    present = np.flatnonzero(np.bincount(kinds.ravel(), minlength=len(SCORES)))
    number = np.zeros(len(SCORES), dtype=np.int64)
    number[present] = np.arange(len(present))
    place = scenario.block_of * strata + np.arange(strata)[:, None]
    place = (place * len(present) + number[kinds]) * paths + np.arange(paths)[:, None, None]
    counts = np.bincount(place.ravel(), minlength=paths * BLOCKS * strata * len(present))
    return _paths_first(counts.reshape(BLOCKS, strata, -1, paths)), SCORES[present]


def _sums(scenario: Scenario, counts: Integers, scores: Integers) -> Array:
    """Sums of products of (1, c, h, ...), shape (paths, blocks, strata, 9, 9)."""
    table = np.ones((len(scores), _RAW))
    for side in range(4):
        table[:, 1 + 2 * side : 3 + 2 * side] = scenario.measure.pairs(scores[:, side])
    products = (table[:, :, None] * table[:, None, :]).reshape(len(scores), -1)
    sums: Array = products.T @ np.moveaxis(counts, 0, -1).astype(np.float64)
    return _paths_first(sums.reshape(*sums.shape[:2], _RAW, _RAW, -1))


def _paths_first(values: NDArray[Number]) -> NDArray[Number]:
    """The values of all paths lie side by side in memory, so loops over them are long and fast."""
    return np.moveaxis(values, -1, 0)


def _transformed(sums: Array, transform: Array) -> Array:
    """The matrix product transform sums transform'; most entries of `transform` are 0."""
    used = np.argwhere(transform.any(axis=(0, 1))).tolist()
    half = np.zeros_like(sums[..., : transform.shape[2], :])
    for row, column in used:
        half[..., row, :] += transform[..., row, column, None] * sums[..., column, :]
    whole = np.zeros_like(half[..., : transform.shape[2]])
    for row, column in used:
        whole[..., row] += half[..., column] * transform[..., row, column, None]
    return whole


def _known(scenario: Scenario, total: Array, draw: Generator) -> tuple[Population, Array, float]:
    """What is known beforehand, the matrix that makes g of raw sums, (paths, strata, q, 9), and the
    difference of the verdicts in the first path.

    Reused questions are right in both, or in neither, like those that can be asked.
    """
    paths, strata = total.shape[:2]
    asked, whole = float(scenario.asked), float(scenario.size)
    means = total[..., 0, :] / asked
    reused = whole - asked
    base, on_correct, _ = scenario.measure.at(means[..., 1], means[..., 2])
    after = scenario.measure.at(means[..., 3], means[..., 4])[0]
    truth = float(np.mean((after - base)[:1])) * asked / whole
    noise = np.zeros((paths, strata))
    if scenario.flips and scenario.counted:
        share = 2 * scenario.flips * (1 - scenario.flips)
        seen = draw.binomial(scenario.repeats, share, size=paths)
        pooled = np.asarray((seen / 2 + 0.5) / (scenario.repeats + 1))
        noise += 2 * pooled[:, None] * on_correct**2
    paired = scenario.controls is not Controls.NONE
    population = Population(
        np.full(strata, asked),
        np.full(strata, whole),
        paired * reused * means[..., 1],
        paired * reused * means[..., 2],
        paired * base,
        noise,
        paired,
    )
    rows = {Controls.NONE: 3, Controls.BASELINE: 4, Controls.BASELINE_RULES: 5}.get(
        scenario.controls, 6
    )
    transform = _paths_first(np.zeros((strata, rows, _RAW, paths)))
    transform[..., 0, 0] = 1
    transform[..., 1, 3] = transform[..., 2, 4] = 1
    for control, side in zip(range(3, rows), (0, 2, 3), strict=False):
        correct, hit = 1 + 2 * side, 2 + 2 * side
        _, on_c, on_h = scenario.measure.at(means[..., correct], means[..., hit])
        transform[..., control, correct], transform[..., control, hit] = on_c, on_h
        transform[..., control, 0] = -(on_c * means[..., correct] + on_h * means[..., hit])
    if not paired:
        transform[..., 1, 1] = -1
    return population, transform, truth
