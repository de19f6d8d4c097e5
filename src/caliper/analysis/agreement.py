"""How far several judges, or a judge and people, give the same verdicts on the same questions.

    Cohen's kappa           two raters (Educational and Psychological Measurement 20, 1960)
    Fleiss' kappa           any number, over questions that all rated (Psychological Bulletin
                            76, 1971)
    Krippendorff's alpha    any number, some verdicts missing; nominal (Content Analysis, 2004)

All three are functions of sums over questions, so that the bootstrap over clusters (the media
files: verdicts about one picture hang together) draws weights and sums again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
DRAWS = 1000
_LOW, _HIGH = 2.5, 97.5
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Rated:
    """One question: whose media it is about, and each rater's label, None for no verdict."""

    cluster: str
    labels: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient and its interval at 95 %; None where it is not defined, as when everybody
    gave every question the same label.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """What `questions` that at least two raters judged say.

    `accuracy` is the share of questions on which all who judged agree. `cohen` and `confusion`
    are there for two raters: confusion[i][j] counts label i of the first and j of the second,
    in the order of `labels`.
    """

    questions: int
    clusters: int
    labels: tuple[str, ...]
    accuracy: Coefficient
    fleiss: Coefficient
    alpha: Coefficient
    cohen: Coefficient | None = None
    confusion: tuple[tuple[int, ...], ...] = ()


def agree(rated: Sequence[Rated], seed: int = 0) -> Agreement:
    """The agreement of all raters, with bootstrap intervals drawn by `seed`.

    Questions with fewer than two verdicts tell nothing and are left out. Raises ValueError when
    the questions do not all have the same number of raters, at least two.
    """
    raters = {len(question.labels) for question in rated}
    if len(raters) > 1 or min(raters, default=2) < 2:
        raise ValueError(f"raters of a question: {sorted(raters)}")
    told = [q for q in rated if sum(label is not None for label in q.labels) >= 2]
    labels = tuple(sorted({label for q in told for label in q.labels if label is not None}))
    clusters = sorted({q.cluster for q in told})
    weights = _weights(len(clusters), seed)
    counts = np.array([[q.labels.count(label) for label in labels] for q in told], dtype=float)
    place = np.array([clusters.index(q.cluster) for q in told], dtype=int)
    summed = _Summed(counts.reshape(len(told), len(labels)), place, weights)
    two = raters == {2}
    confusion = _confusion(told, labels) if two else np.zeros((0, 0, 0))
    return Agreement(
        questions=len(told),
        clusters=len(clusters),
        labels=labels,
        accuracy=summed.of(_unanimous, _share),
        fleiss=_Summed(*_full(counts, place, raters), weights).of(_pairs, _fleiss),
        alpha=summed.of(_coincidences, _alpha),
        cohen=_Summed(confusion, place, weights).of(_flat, _cohen) if two and told else None,
        confusion=tuple(tuple(int(n) for n in row) for row in confusion.sum(axis=0)),
    )


@dataclass(frozen=True, slots=True)
class _Summed:
    """Numbers of every question, summed by cluster and by draw.

    `counts` has a row a question, `place` its cluster's, `weights` a row a draw and a column a
    cluster; the first draw takes every cluster once.
    """

    counts: Counts
    place: NDArray[np.int_]
    weights: Counts

    def of(
        self, numbers: Callable[[Counts], Counts], statistic: Callable[[Counts], Counts]
    ) -> Coefficient:
        """A statistic of the summed `numbers` of the questions, a row of sums a draw."""
        if not len(self.counts):
            return Coefficient(None)
        each = numbers(self.counts)
        by_cluster = np.zeros((self.weights.shape[1], each.shape[1]))
        np.add.at(by_cluster, self.place, each)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = statistic(self.weights @ by_cluster)
        value, drawn = float(values[0]), values[1:]
        if not math.isfinite(value):
            return Coefficient(None)
        known = drawn[np.isfinite(drawn)]
        if self.weights.shape[1] < 2 or not len(known):
            return Coefficient(round(value, _DECIMALS))
        low, high = np.percentile(known, (_LOW, _HIGH))
        bounds = (min(value, float(low)), max(value, float(high)))
        return Coefficient(*(round(number, _DECIMALS) for number in (value, *bounds)))


def _weights(clusters: int, seed: int) -> Counts:
    """How often each cluster is drawn: once, then DRAWS times with replacement."""
    if not clusters:
        return np.ones((1, 0))
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=DRAWS)
    return np.vstack([np.ones((1, clusters)), drawn])


def _full(
    counts: Counts, place: NDArray[np.int_], raters: set[int]
) -> tuple[Counts, NDArray[np.int_]]:
    """The questions that all rated."""
    if not len(counts):
        return counts, place
    whole = counts.sum(axis=1) == max(raters)
    return counts[whole], place[whole]


def _unanimous(counts: Counts) -> Counts:
    agreed = counts.max(axis=1) == counts.sum(axis=1)
    return np.column_stack([agreed, np.ones(len(counts))])


def _share(sums: Counts) -> Counts:
    return np.asarray(sums[:, 0] / sums[:, 1])


def _pairs(counts: Counts) -> Counts:
    """Agreeing and all ordered pairs of verdicts of a question, and its verdicts by label."""
    size = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return np.column_stack([agreeing, size * (size - 1), counts])


def _fleiss(sums: Counts) -> Counts:
    shares = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
    return _beyond_chance(sums[:, 0] / sums[:, 1], (shares**2).sum(axis=1))


def _coincidences(counts: Counts) -> Counts:
    """A question's share in agreeing coincidences, and its verdicts by label."""
    size = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (size - 1)
    return np.column_stack([agreeing, counts])


def _alpha(sums: Counts) -> Counts:
    labels = sums[:, 1:]
    total = labels.sum(axis=1)
    chance = (labels * (labels - 1)).sum(axis=1) / (total * (total - 1))
    return _beyond_chance(sums[:, 0] / total, chance)


def _confusion(told: Sequence[Rated], labels: tuple[str, ...]) -> Counts:
    found = np.zeros((len(told), len(labels), len(labels)))
    for place, question in enumerate(told):
        first, second = (labels.index(label) for label in question.labels if label is not None)
        found[place, first, second] = 1
    return found


def _flat(confusion: Counts) -> Counts:
    return confusion.reshape(len(confusion), -1)


def _cohen(sums: Counts) -> Counts:
    size = math.isqrt(sums.shape[1])
    table = sums.reshape(len(sums), size, size) / sums.sum(axis=1)[:, None, None]
    observed = np.trace(table, axis1=1, axis2=2)
    return _beyond_chance(observed, (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1))


def _beyond_chance(observed: Counts, chance: Counts) -> Counts:
    # Where chance alone always agrees, nothing can be said.
    return np.where(chance < 1, (observed - chance) / (1 - chance), np.nan)
