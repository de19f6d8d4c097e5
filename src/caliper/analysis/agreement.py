"""How far several judges, or a judge and people, give the same verdicts on the same questions.

    Cohen's kappa           two raters (Educational and Psychological Measurement 20, 1960)
    Fleiss' kappa           any number, over questions that all rated (Psychological Bulletin
                            76, 1971)
    Krippendorff's alpha    any number, some verdicts missing; nominal (Content Analysis, 2004)

All of them, and the plain share of agreement, are (observed - chance) / (1 - chance), where both
are functions of sums over questions. Their intervals are Wilson's, of the observed agreement:

    n = observed (1 - observed) / ((1 - chance)^2 variance)

observations, where the variance is the coefficient's own by the jackknife over clusters (the
media files: verdicts about one picture hang together). That is the effective sample size of a
share from a complex sample (Korn and Graubard, Survey Methodology 24, 1998; Dean and Pagano,
Journal of Survey Statistics and Methodology 3, 2015). Where no cluster tells another share, as
when everybody agrees on everything, the jackknife knows no variance, and a cluster counts as
one observation. For the share of agreement of questions about a medium each it is Wilson's
interval itself. docs/comparing.md shows how often these intervals hold the true value, beside
those of the bootstrap, which fail near perfect agreement, as those of the plain jackknife do.
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
Agreeing = tuple[Counts, Counts]
"""Observed agreement and that of chance, a value a row of sums."""
_DECIMALS = 6
_NOBODY = -1


@dataclass(frozen=True, slots=True)
class RatedQuestion:
    """One question: whose media it is about, and each rater's label, None for no verdict."""

    cluster: str
    labels: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient and its interval at 95%; None where it is not defined, as when everybody
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


def agree(rated: Sequence[RatedQuestion]) -> Agreement:
    """The agreement of all raters.

    Questions with fewer than two verdicts tell nothing and are left out. Raises ValueError when
    the questions do not all have the same number of raters, at least two.
    """
    raters = {len(question.labels) for question in rated}
    if len(raters) > 1 or min(raters, default=2) < 2:
        raise ValueError(f"raters of a question: {sorted(raters)}")
    told = [q for q in rated if sum(label is not None for label in q.labels) >= 2]
    labels = tuple(sorted({label for q in told for label in q.labels if label is not None}))
    codes, clusters = _codes(told, labels, max(raters, default=2)), _clusters(told)
    counts = np.zeros((len(told), len(labels)))
    for code in range(len(labels)):
        counts[:, code] = (codes == code).sum(axis=1)
    everybody = (codes != _NOBODY).all(axis=1)
    two = raters == {2} and bool(told)
    return Agreement(
        questions=len(told),
        clusters=len(set(clusters)),
        labels=labels,
        accuracy=_coefficient(_unanimous(counts), clusters, _share),
        fleiss=_coefficient(_pairs(counts[everybody]), clusters[everybody], _fleiss),
        alpha=_coefficient(_coincidences(counts), clusters, _alpha),
        cohen=_coefficient(_both(codes, len(labels)), clusters, _cohen) if two else None,
        confusion=_confusion(codes, len(labels)) if two else (),
    )


def _codes(told: Sequence[RatedQuestion], labels: tuple[str, ...], raters: int) -> Places:
    """A row a question and a column a rater: the place of the label, _NOBODY for none."""
    places: dict[str | None, int] = {label: place for place, label in enumerate(labels)}
    places[None] = _NOBODY
    rows = [[places[label] for label in question.labels] for question in told]
    return np.array(rows, dtype=int).reshape(len(told), raters)


def _clusters(told: Sequence[RatedQuestion]) -> Places:
    """The place of each question's cluster among all, by name."""
    places = {name: place for place, name in enumerate(sorted({q.cluster for q in told}))}
    return np.array([places[question.cluster] for question in told], dtype=int)


def _coefficient(
    numbers: Counts, clusters: Places, statistic: Callable[[Counts], Agreeing]
) -> Coefficient:
    """The coefficient of the summed `numbers`, a row a question."""
    if not len(numbers):
        return Coefficient(None)
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.zeros((places.max() + 1, numbers.shape[1]))
    np.add.at(sums, places, numbers)
    whole = sums.sum(axis=0)
    (observed,), (chance,) = statistic(whole[None, :])
    if not chance < 1:
        # Where chance alone always agrees, nothing can be said.
        return Coefficient(None)
    value = float(_beyond_chance(observed, chance))
    if len(sums) < 2:
        return Coefficient(round(value, _DECIMALS))
    without = _beyond_chance(*statistic(whole - sums))
    seen = _observations(float(observed), float(1 - chance), without)
    if len(sums) < len(numbers):
        # The spread of few clusters is itself uncertain: Student's quantile instead of Gauss's.
        seen *= (NORMAL / student(len(sums) - 1)) ** 2
    low, high = (float(_beyond_chance(bound, chance)) for bound in wilson(float(observed), seen))
    # No coefficient is below -1, whatever chance there is.
    bounds = (min(value, max(low, -1.0)), high)
    return Coefficient(*(round(number, _DECIMALS) for number in (value, *bounds)))


def _observations(share: float, beyond: float, without: Counts) -> float:
    """How many independent observations of a share vary as much as the coefficient does.

    `without` has its value without each cluster; `beyond` is what chance leaves to agree on.
    """
    clusters = len(without)
    if not np.isfinite(without).all():
        return float(clusters)
    # The jackknife's, for a variance that divides by n and not by n - 1, as a share's does.
    variance = ((clusters - 1) / clusters) ** 2 * float(((without - without.mean()) ** 2).sum())
    varies = share * (1 - share) / beyond**2
    if varies == 0 or variance == 0:
        return float(clusters)
    return varies / variance


def _beyond_chance(observed: Counts | float, chance: Counts | float) -> Counts:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((observed - chance) / (1 - np.asarray(chance, dtype=float)))


def _unanimous(counts: Counts) -> Counts:
    agreed = counts.max(axis=1, initial=0) == counts.sum(axis=1)
    return np.column_stack([np.ones(len(counts)), agreed])


def _share(sums: Counts) -> Agreeing:
    return sums[:, 1] / sums[:, 0], np.zeros(len(sums))


def _pairs(counts: Counts) -> Counts:
    """Agreeing and all ordered pairs of verdicts of a question, and its verdicts by label."""
    size = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return np.column_stack([agreeing, size * (size - 1), counts])


def _fleiss(sums: Counts) -> Agreeing:
    shares = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
    return sums[:, 0] / sums[:, 1], (shares**2).sum(axis=1)


def _coincidences(counts: Counts) -> Counts:
    """A question's share in agreeing coincidences, and its verdicts by label."""
    size = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (size - 1)
    return np.column_stack([agreeing, counts])


def _alpha(sums: Counts) -> Agreeing:
    labels = sums[:, 1:]
    total = labels.sum(axis=1)
    chance = (labels * (labels - 1)).sum(axis=1) / (total * (total - 1))
    return sums[:, 0] / total, chance


def _both(codes: Places, labels: int) -> Counts:
    """Whether two raters agree, and the label of either, one of `labels` columns each."""
    known = np.eye(labels)
    agreed = codes[:, 0] == codes[:, 1]
    return np.column_stack([np.ones(len(codes)), agreed, known[codes[:, 0]], known[codes[:, 1]]])


def _cohen(sums: Counts) -> Agreeing:
    total = sums[:, 0]
    first, second = np.split(sums[:, 2:] / total[:, None], 2, axis=1)
    return sums[:, 1] / total, (first * second).sum(axis=1)


def _confusion(codes: Places, labels: int) -> tuple[tuple[int, ...], ...]:
    table = np.zeros((labels, labels), dtype=int)
    np.add.at(table, (codes[:, 0], codes[:, 1]), 1)
    return tuple(tuple(row) for row in table.tolist())
