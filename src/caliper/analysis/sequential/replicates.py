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
from numpy.typing import NDArray

from caliper.analysis.drawing import BLOCKS, Unit, block_ends
from caliper.analysis.sequential.bound import SPREAD, p_value
from caliper.analysis.sequential.check_path import LEAST_DISCORDANT, StopCheck
from caliper.analysis.sequential.estimate import FOLDS, Population, estimate
from caliper.analysis.sequential.known import KnownScores, Scores, strata_of
from caliper.analysis.sequential.measure import Array, Codes

REDRAWS = 10_000
_CHUNK = 200
_RAW = 5
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Redraws:
    """What the redraws found. `changed` of `questions` got another verdict in the second sitting.

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


@dataclass(frozen=True, slots=True)
class _Sittings:
    """Questions with both verdicts. `straight` and `turned` number the kind of a question, a row
    (1, c, h, c, h) of `kinds`, with its verdicts in order and swapped.
    """

    strata: Codes
    media: Codes
    straight: Codes
    turned: Codes
    kinds: Array
    population: Population


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
    observed = _difference(sittings, check, sittings.straight[None], weights)[0]
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


def _sittings(
    units: Sequence[Unit], check: StopCheck, verdicts: tuple[Scores, Scores]
) -> _Sittings:
    before, after = (
        check.measure.pairs(scores[unit.index] or 0.0 for unit in units) for scores in verdicts
    )
    rows = np.concatenate((np.hstack((before, after)), np.hstack((after, before))))
    kinds, numbers = np.unique(rows, axis=0, return_inverse=True)
    known = KnownScores(verdicts[0], repeats=verdicts[1])
    strata = strata_of(units, list(check.weights), check.measure, known)
    return _Sittings(
        np.array([strata.codes[unit.index] for unit in units]),
        np.unique([unit.medium for unit in units], return_inverse=True)[1],
        numbers[: len(units)],
        numbers[len(units) :],
        np.hstack((np.ones((len(kinds), 1)), kinds)),
        strata.population,
    )


def _chunk(
    sittings: _Sittings,
    check: StopCheck,
    weights: Array,
    extent: tuple[int, float],
    draw: Generator,
) -> tuple[Array, ...]:
    """Alarms at zero, alarms and passes at the margin, the share drawn, and the difference."""
    paths, alpha = extent
    swap = draw.random((paths, int(sittings.media.max()) + 1)) < 0.5
    kinds = np.where(swap[:, sittings.media], sittings.turned, sittings.straight)
    counts = _counts(sittings, kinds, _blocks(sittings, paths, draw))
    products = (sittings.kinds[:, :, None] * sittings.kinds[:, None, :]).reshape(-1, _RAW**2)
    sums = (counts @ products).reshape(*counts.shape[:3], _RAW, _RAW)
    population, transform = _swapped(sittings, check, sums.sum(axis=1))
    differs = (sittings.kinds[:, 1:3] != sittings.kinds[:, 3:]).any(axis=1)
    discordant = (counts @ differs).sum(axis=-1).cumsum(axis=1)
    margin = check.margin or 0.0
    folds = np.zeros((paths, FOLDS, len(weights), 4, 4))
    least = np.ones((4, BLOCKS, paths))
    for block in range(BLOCKS):
        folds[:, block % FOLDS] += transform @ sums[:, block] @ transform.swapaxes(-1, -2)
        found = estimate(folds, population, check.measure)
        difference = found.difference @ weights
        variance = found.variance(population) @ weights**2
        enough = (discordant[:, block] >= LEAST_DISCORDANT) | (block == BLOCKS - 1)
        distances = (-difference - margin, difference + margin, -difference, difference)
        for place, distance in enumerate(distances):
            p = p_value(distance, variance, SPREAD * margin**2)
            least[place, block] = np.where(enough, p, 1)
    certain = np.minimum.accumulate(least, axis=1) < alpha
    ended = certain[0] | certain[1]
    drawn = counts.sum(axis=(0, 2, 3)).cumsum() / counts.sum()
    ended[-1] = True
    # At the margin, the finding that comes first counts.
    alarm = np.where(certain[2].any(axis=0), certain[2].argmax(axis=0), BLOCKS)
    passed = np.where(certain[3].any(axis=0), certain[3].argmax(axis=0), BLOCKS)
    falls, passes = (alarm <= passed) & (alarm < BLOCKS), passed < alarm
    last = ended.argmax(axis=0)
    alarms = certain[0][last, np.arange(paths)]
    shares = (np.asarray(one, dtype=np.float64) for one in (alarms, falls, passes, drawn[last]))
    return (*shares, _difference(sittings, check, kinds, weights))


def _blocks(sittings: _Sittings, paths: int, draw: Generator) -> Codes:
    """The block in which each question is drawn, shape (paths, n); spread as in `draw_order`."""
    blocks = np.zeros((paths, len(sittings.strata)), dtype=np.intp)
    for stratum in range(int(sittings.strata.max()) + 1):
        chosen = np.flatnonzero(sittings.strata == stratum)
        media = np.unique(sittings.media[chosen], return_inverse=True)[1]
        ordered = np.sort(media)
        first = np.searchsorted(ordered, media)
        size = np.searchsorted(ordered, media, side="right") - first
        ranks = _ranks(media + draw.random((paths, len(chosen)))) - first
        offsets = draw.random((paths, int(media.max()) + 1))[:, media]
        places = _ranks((ranks + offsets) / size)
        blocks[:, chosen] = np.searchsorted(block_ends(len(chosen)), places, side="right")
    return blocks


def _ranks(values: Array) -> Codes:
    order = np.argsort(values, axis=-1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(values.shape[-1])[None], axis=-1)
    return ranks


def _counts(sittings: _Sittings, kinds: Codes, blocks: Codes) -> NDArray[np.int64]:
    """How many questions of each kind, shape (paths, blocks, strata, kinds)."""
    paths, strata, number = len(kinds), int(sittings.strata.max()) + 1, len(sittings.kinds)
    place = (np.arange(paths)[:, None] * BLOCKS + blocks) * strata + sittings.strata
    counts = np.bincount(
        (place * number + kinds).ravel(), minlength=paths * BLOCKS * strata * number
    )
    return counts.reshape(paths, BLOCKS, strata, number)


def _swapped(sittings: _Sittings, check: StopCheck, total: Array) -> tuple[Population, Array]:
    """What is known of each path, and the matrix that makes g of raw sums."""
    means = total[..., 0, :] / sittings.population.open[:, None]
    base, on_correct, on_hit = check.measure.at(means[..., 1], means[..., 2])
    transform = np.zeros((*means.shape[:2], 4, _RAW))
    transform[..., 0, 0] = transform[..., 1, 3] = transform[..., 2, 4] = 1
    transform[..., 3, 1], transform[..., 3, 2] = on_correct, on_hit
    transform[..., 3, 0] = -(on_correct * means[..., 1] + on_hit * means[..., 2])
    one = sittings.population
    none = np.zeros_like(one.open)
    return Population(one.open, one.whole, none, none, base, one.noise), transform


def _difference(
    sittings: _Sittings, check: StopCheck, kinds: Codes, weights: Array
) -> NDArray[np.float64]:
    """The difference over all questions, shape (paths,)."""
    counts = _counts(sittings, kinds, np.zeros_like(kinds)).sum(axis=1)
    means = counts @ sittings.kinds / sittings.population.open[:, None]
    before = check.measure.at(means[..., 1], means[..., 2])[0]
    after = check.measure.at(means[..., 3], means[..., 4])[0]
    difference: Array = (after - before) @ weights
    return difference
