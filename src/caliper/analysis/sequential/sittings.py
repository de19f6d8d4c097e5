"""Questions with two verdicts, whose looks are redrawn in many paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from caliper.analysis.draw_order import BLOCKS, block_ends
from caliper.analysis.sequential.check_path import StopCheck
from caliper.analysis.sequential.estimate import FOLDS, Population, estimate
from caliper.analysis.sequential.measure import Array, Codes

_RAW = 5


@dataclass(frozen=True, slots=True)
class Sittings:
    """Questions with both verdicts. `straight` and `turned` number the kind of a question, a row
    (1, c, h, c, h) of `kinds`, with its verdicts in order and swapped.
    """

    strata: Codes
    media: Codes
    straight: Codes
    turned: Codes
    kinds: Array
    population: Population


@dataclass(frozen=True, slots=True)
class PathLook:
    """Every path after a block: the difference, its variance and the number of questions with two
    verdicts, each of shape (paths,), and the share of questions drawn by then.
    """

    difference: Array
    variance: Array
    discordant: Codes
    drawn: float


def path_looks(
    sittings: Sittings, check: StopCheck, kinds: Codes, draw: Generator
) -> Iterator[PathLook]:
    """The looks of many paths, block by block, each with an order of its own. `kinds` are those of
    the questions in each path, shape (paths, n).
    """
    counts = _counts(sittings, kinds, _blocks(sittings, len(kinds), draw))
    products = (sittings.kinds[:, :, None] * sittings.kinds[:, None, :]).reshape(-1, _RAW**2)
    sums = (counts @ products).reshape(*counts.shape[:3], _RAW, _RAW)
    population, transform = _swapped(sittings, check, sums.sum(axis=1))
    differs = (sittings.kinds[:, 1:3] != sittings.kinds[:, 3:]).any(axis=1)
    discordant = (counts @ differs).sum(axis=-1).cumsum(axis=1)
    shares = counts.sum(axis=(0, 2, 3)).cumsum() / counts.sum()
    weights = np.array(list(check.weights.values()))
    folds = np.zeros((len(kinds), FOLDS, len(weights), 4, 4))
    for block in range(BLOCKS):
        folds[:, block % FOLDS] += transform @ sums[:, block] @ transform.swapaxes(-1, -2)
        estimates = estimate(folds, population, check.measure)
        variance = estimates.variance(population) @ weights**2
        yield PathLook(
            estimates.difference @ weights, variance, discordant[:, block], shares[block]
        )


def _blocks(sittings: Sittings, paths: int, draw: Generator) -> Codes:
    """The block in which each question is drawn, shape (paths, n); spread as in `draw_order`."""
    blocks = np.zeros((paths, len(sittings.strata)), dtype=np.intp)
    for stratum in range(int(sittings.strata.max()) + 1):
        members = np.flatnonzero(sittings.strata == stratum)
        media = np.unique(sittings.media[members], return_inverse=True)[1]
        ordered = np.sort(media)
        first = np.searchsorted(ordered, media)
        size = np.searchsorted(ordered, media, side="right") - first
        ranks = _ranks(media + draw.random((paths, len(members)))) - first
        offsets = draw.random((paths, int(media.max()) + 1))[:, media]
        places = _ranks((ranks + offsets) / size)
        blocks[:, members] = np.searchsorted(block_ends(len(members)), places, side="right")
    return blocks


def _ranks(values: Array) -> Codes:
    order = np.argsort(values, axis=-1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(values.shape[-1])[None], axis=-1)
    return ranks


def _counts(sittings: Sittings, kinds: Codes, blocks: Codes) -> NDArray[np.int64]:
    """How many questions of each kind, shape (paths, blocks, strata, kinds)."""
    paths, strata, number = len(kinds), int(sittings.strata.max()) + 1, len(sittings.kinds)
    place = (np.arange(paths)[:, None] * BLOCKS + blocks) * strata + sittings.strata
    counts = np.bincount(
        (place * number + kinds).ravel(), minlength=paths * BLOCKS * strata * number
    )
    return counts.reshape(paths, BLOCKS, strata, number)


def _swapped(sittings: Sittings, check: StopCheck, total: Array) -> tuple[Population, Array]:
    """The population of each path, and the matrix that makes g of raw sums."""
    means = total[..., 0, :] / sittings.population.open[:, None]
    base, on_correct, on_hit = check.measure.at(means[..., 1], means[..., 2])
    transform = np.zeros((*means.shape[:2], 4, _RAW))
    transform[..., 0, 0] = transform[..., 1, 3] = transform[..., 2, 4] = 1
    transform[..., 3, 1], transform[..., 3, 2] = on_correct, on_hit
    transform[..., 3, 0] = -(on_correct * means[..., 1] + on_hit * means[..., 2])
    one = sittings.population
    none = np.zeros_like(one.open)
    return Population(one.open, one.whole, none, none, base, one.noise), transform


def path_differences(
    sittings: Sittings, check: StopCheck, kinds: Codes, weights: Array
) -> NDArray[np.float64]:
    """The difference over all questions, shape (paths,)."""
    counts = _counts(sittings, kinds, np.zeros_like(kinds)).sum(axis=1)
    means = counts @ sittings.kinds / sittings.population.open[:, None]
    before = check.measure.at(means[..., 1], means[..., 2])[0]
    after = check.measure.at(means[..., 3], means[..., 4])[0]
    difference: Array = (after - before) @ weights
    return difference
