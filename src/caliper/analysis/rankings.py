"""Places in a ranking, and how far two rankings agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from caliper.analysis.correlation import CorrelationEstimate, estimate_correlation
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = lazy_module("scipy.stats")

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PlaceChange:
    """A contestant's value and place in two rankings."""

    name: str
    before: float
    after: float
    place_before: int
    place_after: int


@dataclass(frozen=True, slots=True)
class RankingPair:
    """Two rankings of the same contestants, in the order of the first."""

    changes: tuple[PlaceChange, ...]
    correlation: CorrelationEstimate

    @property
    def most_moved(self) -> int:
        """The most places that any contestant moved."""
        moves = (abs(change.place_after - change.place_before) for change in self.changes)
        return max(moves, default=0)


@dataclass(frozen=True, slots=True)
class SetupRanking:
    """The ranking in another setup against that in the first; `differing` says what differs."""

    differing: tuple[str, ...]
    ranking: RankingPair


def compare_rankings(before: Mapping[str, float], after: Mapping[str, float]) -> RankingPair:
    """Compare two rankings, higher is better, over the contestants that both have."""
    first = {name: value for name, value in before.items() if name in after}
    second = {name: after[name] for name in first}
    changes = [
        PlaceChange(
            name, value, second[name], place_of(value, first), place_of(after[name], second)
        )
        for name, value in first.items()
    ]
    changes.sort(key=lambda change: change.place_before)
    correlation = estimate_correlation(list(first.values()), list(second.values()))
    return RankingPair(tuple(changes), correlation)


def place_of(value: float, values: Mapping[str, float]) -> int:
    """The place of a value among all; equal values share one."""
    return 1 + sum(other > value for other in values.values())


def kendall(reference: Scores, rows: Scores) -> Scores:
    """Kendall's tau-b of each row with the reference; NaN where all values are equal."""
    first, second = np.triu_indices(len(reference), 1)
    signs = np.sign(reference[first] - reference[second])
    others = np.sign(rows[:, first] - rows[:, second])
    return _cosine(signs, others)


def spearman(reference: Scores, rows: Scores) -> Scores:
    """Spearman's rho of each row with the reference; NaN where all values are equal."""
    ranks, others = stats.rankdata(reference), stats.rankdata(rows, axis=1)
    return _cosine(ranks - ranks.mean(), others - others.mean(axis=1, keepdims=True))


def _cosine(vector: Scores, rows: Scores) -> Scores:
    lengths = np.sqrt((vector**2).sum() * (rows**2).sum(axis=1))
    products = (rows * vector).sum(axis=1)
    cosines: Scores = np.divide(
        products, lengths, out=np.full(len(rows), np.nan), where=lengths > 0
    )
    return cosines
