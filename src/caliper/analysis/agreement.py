"""Inter-rater agreement: of several judges, or a judge and people, on the same questions.

    Cohen's kappa           two raters (Educational and Psychological Measurement 20, 1960)
    Fleiss' kappa           any number, questions rated by all (Psychological Bulletin 76, 1971)
    Krippendorff's alpha    any number, some verdicts missing; nominal (Content Analysis, 2004)

Each of them, and the plain share of agreement, is (observed - chance) / (1 - chance), where both
are functions of sums over questions. The intervals are Wilson's for the observed agreement, with

    n = observed (1 - observed) / ((1 - chance)^2 variance)

observations. The variance is the coefficient's own, from the jackknife over clusters (the media
files: verdicts about one picture are correlated). That is the effective sample size of a share
from a complex sample (Korn and Graubard, Survey Methodology 24, 1998; Dean and Pagano, Journal of
Survey Statistics and Methodology 3, 2015). If all clusters have the same share, as when everybody
agrees on everything, the jackknife variance is zero, and each cluster counts as one observation.
For the share of agreement with one question per medium, this is Wilson's interval itself.
docs/comparing.md compares the coverage of these intervals with that of the bootstrap, which fails
near perfect agreement, as the plain jackknife does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from caliper.analysis.intervals import wilson
from caliper.analysis.jackknife import NORMAL, student

Counts = NDArray[np.float64]
Places = NDArray[np.int_]
Codes = NDArray[np.int16]
Agreeing = tuple[Counts, Counts]
"""Observed and chance agreement, one value per row of sums."""
_DECIMALS = 6
NO_LABEL = -1
"""The code of a question that a rater did not judge."""


@dataclass(frozen=True, slots=True)
class RatedQuestion:
    """One question: the cluster of its media, and each rater's label, None for no verdict."""

    cluster: str
    labels: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient and its 95% interval. The value is None if it is undefined, as when everybody
    gave every question the same label.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on the `questions` that at least two raters judged.

    `accuracy` is the share of questions on which all their raters agree. `cohen` and `confusion`
    exist for two raters only: confusion[i][j] counts label i of the first and label j of the
    second, in the order of `labels`.
    """

    questions: int
    clusters: int
    labels: tuple[str, ...]
    accuracy: Coefficient
    fleiss: Coefficient
    alpha: Coefficient
    cohen: Coefficient | None = None
    confusion: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RatingTable:
    """The labels of many questions: a row of `codes` per question, a column per rater. A code is
    the place of a label in `labels`, which are sorted, or `NO_LABEL`. `clusters` are the places of
    the questions' clusters in the order of their names.
    """

    labels: tuple[str, ...]
    codes: Codes
    clusters: Places

    def rows(self, mask: NDArray[np.bool_]) -> RatingTable:
        """Some of the questions."""
        return RatingTable(self.labels, self.codes[mask], self.clusters[mask])


def measure_agreement(questions: Sequence[RatedQuestion]) -> Agreement:
    """The agreement of all raters.

    Questions with fewer than two verdicts carry no information and are left out. Raises ValueError
    unless all questions have the same number of raters, at least two.
    """
    raters = {len(question.labels) for question in questions}
    if len(raters) > 1 or min(raters, default=2) < 2:
        raise ValueError(f"raters of a question: {sorted(raters)}")
    labels = tuple(sorted({label for q in questions for label in q.labels if label is not None}))
    places: dict[str | None, int] = {label: place for place, label in enumerate(labels)}
    places[None] = NO_LABEL
    rows = [[places[label] for label in question.labels] for question in questions]
    codes = np.array(rows, dtype=np.int16).reshape(len(questions), max(raters, default=2))
    clusters = cluster_places([question.cluster for question in questions])
    return agreement_of(RatingTable(labels, codes, clusters))


def agreement_of(table: RatingTable) -> Agreement:
    """The agreement of all raters of a table. Questions with fewer than two verdicts are left out,
    and so are labels that the others never got.
    """
    table = table.rows((table.codes != NO_LABEL).sum(axis=1) >= 2)
    present = np.unique(table.codes[table.codes != NO_LABEL])
    labels = tuple(table.labels[place] for place in present)
    codes, clusters = table.codes, _numbered(table.clusters)
    if len(labels) < len(table.labels):
        codes = np.where(codes == NO_LABEL, NO_LABEL, np.searchsorted(present, codes))
    counts = np.zeros((len(codes), len(labels)))
    for code in range(len(labels)):
        counts[:, code] = (codes == code).sum(axis=1)
    rated_by_all = (codes != NO_LABEL).all(axis=1)
    fleiss_clusters = clusters if rated_by_all.all() else _numbered(clusters[rated_by_all])
    two = codes.shape[1] == 2 and bool(len(codes))
    return Agreement(
        questions=len(codes),
        clusters=int(clusters.max(initial=-1)) + 1,
        labels=labels,
        accuracy=_coefficient(_unanimous(counts), clusters, _share),
        fleiss=_coefficient(_pairs(counts[rated_by_all]), fleiss_clusters, _fleiss),
        alpha=_coefficient(_coincidences(counts), clusters, _alpha),
        cohen=_coefficient(_rater_pairs(codes, len(labels)), clusters, _cohen) if two else None,
        confusion=_confusion(codes, len(labels)) if two else (),
    )


def cluster_places(names: Sequence[str]) -> Places:
    """The place of each name among all of them, sorted."""
    places = {name: place for place, name in enumerate(sorted(set(names)))}
    return np.array([places[name] for name in names], dtype=int)


def _numbered(clusters: Places) -> Places:
    """The clusters of questions, by numbers without gaps."""
    return np.unique(clusters, return_inverse=True)[1]


def _coefficient(
    numbers: Counts, clusters: Places, statistic: Callable[[Counts], Agreeing]
) -> Coefficient:
    """The coefficient of the sums of `numbers`, which has one row per question. `clusters` are
    numbers without gaps.
    """
    if not len(numbers):
        return Coefficient(None)
    # In the order of the questions, column by column.
    sums = np.column_stack([np.bincount(clusters, weights=column) for column in numbers.T])
    whole = sums.sum(axis=0)
    observed, chance = (float(share[0]) for share in statistic(whole[None, :]))
    if not chance < 1:
        # The coefficient is undefined if chance alone always agrees.
        return Coefficient(None)
    beyond = 1 - chance
    value = (observed - chance) / beyond
    if len(sums) < 2:
        return Coefficient(round(value, _DECIMALS))
    without = _beyond_chance(*statistic(whole - sums))
    size = _observations(observed, beyond, without)
    if len(sums) < len(numbers):
        # The spread of few clusters is itself uncertain: use Student's quantile, not the normal.
        size *= (NORMAL / student(len(sums) - 1)) ** 2
    low, high = ((bound - chance) / beyond for bound in wilson(observed, size))
    # No coefficient is below -1, whatever the chance agreement.
    bounds = (min(value, max(low, -1.0)), high)
    return Coefficient(*(round(number, _DECIMALS) for number in (value, *bounds)))


def _observations(share: float, beyond: float, without: Counts) -> float:
    """The effective sample size: how many independent observations vary as much as the
    coefficient.

    `without` holds its value without each cluster; `beyond` is 1 minus the chance agreement.
    """
    clusters = len(without)
    if not np.isfinite(without).all():
        return float(clusters)
    # The jackknife variance, scaled to divide by n instead of n - 1, as that of a share does.
    variance = ((clusters - 1) / clusters) ** 2 * float(((without - without.mean()) ** 2).sum())
    per_observation = share * (1 - share) / beyond**2
    if per_observation == 0 or variance == 0:
        return float(clusters)
    return per_observation / variance


def _beyond_chance(observed: Counts, chance: Counts) -> Counts:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((observed - chance) / (1 - chance))


def _unanimous(counts: Counts) -> Counts:
    agreed = counts.max(axis=1, initial=0) == counts.sum(axis=1)
    return np.column_stack([np.ones(len(counts)), agreed])


def _share(sums: Counts) -> Agreeing:
    return sums[:, 1] / sums[:, 0], np.zeros(len(sums))


def _pairs(counts: Counts) -> Counts:
    """Per question: agreeing ordered pairs of verdicts, all ordered pairs, verdicts by label."""
    size = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return np.column_stack([agreeing, size * (size - 1), counts])


def _fleiss(sums: Counts) -> Agreeing:
    shares = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
    return sums[:, 0] / sums[:, 1], (shares**2).sum(axis=1)


def _coincidences(counts: Counts) -> Counts:
    """Per question: agreeing coincidences, and verdicts by label."""
    size = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (size - 1)
    return np.column_stack([agreeing, counts])


def _alpha(sums: Counts) -> Agreeing:
    labels = sums[:, 1:]
    total = labels.sum(axis=1)
    chance = (labels * (labels - 1)).sum(axis=1) / (total * (total - 1))
    return sums[:, 0] / total, chance


def _rater_pairs(codes: Codes, labels: int) -> Counts:
    """Per question: 1, whether two raters agree, and each rater's label, one-hot encoded."""
    one_hot = np.eye(labels)
    agreed = codes[:, 0] == codes[:, 1]
    return np.column_stack(
        [np.ones(len(codes)), agreed, one_hot[codes[:, 0]], one_hot[codes[:, 1]]]
    )


def _cohen(sums: Counts) -> Agreeing:
    total = sums[:, 0]
    first, second = np.split(sums[:, 2:] / total[:, None], 2, axis=1)
    return sums[:, 1] / total, (first * second).sum(axis=1)


def _confusion(codes: Codes, labels: int) -> tuple[tuple[int, ...], ...]:
    table = np.zeros((labels, labels), dtype=int)
    np.add.at(table, (codes[:, 0], codes[:, 1]), 1)
    return tuple(tuple(row) for row in table.tolist())
