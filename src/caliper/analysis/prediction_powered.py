"""Figures by people's labels of a sample and a judge's verdicts of all questions.

Of question i, u_i is its influence on the figure of its stratum (see `sequential.measure`) by
people's label, f_i by the judge's verdict. With w_i the weights of labelled questions, 1 over their
sampling probability, scaled to add up to the N questions of the stratum,

    theta = figure(weighted means of labels) + mean(l f) - sum(w l f) / N
    e     = u - l f, less its weighted mean

    these questions         V = sum(w (w - 1) e^2) / N^2 n / (n - 1)
    questions like these    V = sum over media of (sum of l (f - mean f) + w e)^2 / N^2

A question without a label counts as missing at random. The factor l is that of PPI++, the slope of
u on f, fitted on the media of other folds with a ridge that pulls it to 0, where only people count;
it needs no factor N / (n + N) here, since f of all questions includes the labelled ones. Source:
Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference (arXiv 2311.01453,
2023); sampling probabilities as in Zrnic and Candes, Active statistical inference (arXiv
2403.03208, 2024), with Hajek's scaled weights (Sarndal, Swensson and Wretman, Model Assisted Survey
Sampling, 1992, chapter 5.7); folds as in Zrnic and Candes, Cross-prediction-powered inference (PNAS
121, 2024); media as in `intervals`.

**No false certainty** (ours). Where people and judge agree on every label, e says nothing: one more
label that contradicts the judge, shared by all strata of a figure, is added to its variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from caliper.analysis.jackknife import student
from caliper.analysis.sequential.measure import Array, Codes, Measure

LEAST_LABELS = 30
"""A figure needs so many labelled questions of each stratum, or all of it."""
_FOLDS = 4
_RIDGE = 5.0
_DISAGREEMENTS = 1.0
_STEPS = 60
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledQuestions:
    """Questions of the strata 0 to K - 1 and their media. `verdicts` and `labels` are pairs (c, h)
    of shape (n, 2), means over repeats and over people; labels are nan where there is none, and so
    is `probability`, with which a question was drawn to be labelled.
    """

    strata: Codes
    media: Codes
    verdicts: Array
    labels: Array
    probability: Array

    @property
    def is_labelled(self) -> Array:
        """Whether people labelled each question; shape (n,)."""
        return ~np.isnan(self.labels[:, 0])

    def missing_labels(self, strata: int) -> int:
        """How many labels are too few, over all strata."""
        size = np.bincount(self.strata, minlength=strata)
        labelled = np.bincount(self.strata[self.is_labelled], minlength=strata)
        return int(np.maximum(np.minimum(size, LEAST_LABELS) - labelled, 0).sum())


@dataclass(frozen=True, slots=True)
class PeopleEstimate:
    """A figure as people would judge all questions, in the unit of scores, with 95% intervals: for
    `these` questions, and for questions about media `like_these`. `judge` is the figure by the
    judge alone, `people` by the labelled questions alone. `labels_needed` is about how many more
    labels make the interval for these questions as narrow as asked; None if none was asked.
    """

    value: float
    these: Interval
    like_these: Interval
    judge: float
    people: float
    labels: int
    questions: int
    media: int
    labels_needed: int | None = None


def estimate_by_people(
    questions: LabelledQuestions,
    weights: Sequence[float],
    measure: Measure,
    bounds: Interval = (0.0, 1.0),
    width: float | None = None,
) -> PeopleEstimate:
    """Estimate the weighted mean of the figures of all strata.

    Raises ValueError if labels are missing, or a labelled question has no probability.
    """
    count = len(weights)
    if missing := questions.missing_labels(count):
        raise ValueError(f"{missing} labels too few")
    if np.isnan(questions.probability[questions.is_labelled]).any():
        raise ValueError("labels of questions that were not drawn at random")
    ends = (-1.0, 0.0, 1.0) if measure.is_of_mentions else bounds
    sample = _sample(questions, np.asarray(weights, dtype=np.float64), measure, ends)
    labels = int(questions.is_labelled.sum())
    media = len(np.unique(questions.media[questions.is_labelled]))
    reach, wide = student(max(1, labels - count)), student(max(1, media - 1))
    return PeopleEstimate(
        sample.value,
        _interval(sample.value, reach * math.sqrt(sample.sampling_variance()), bounds),
        _interval(sample.value, wide * math.sqrt(sample.media_variance()), bounds),
        sample.judge,
        sample.people,
        labels,
        len(questions.strata),
        len(np.unique(questions.media)),
        None if width is None else sample.labels_needed((width / 2 / reach) ** 2, labels),
    )


def _interval(value: float, half: float, bounds: Interval) -> Interval:
    return max(bounds[0], value - half), min(bounds[1], value + half)


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Estimates, and what their variances need of each question: `share` of the figure that its
    influence has (weight over N), control l (f - mean f), `weight` w, and `squares` that stand for
    e^2 of labelled ones.
    """

    value: float
    judge: float
    people: float
    media: Codes
    share: Array
    control: Array
    weight: Array
    residual: Array
    squares: Array

    def sampling_variance(self, more: float = 1.0) -> float:
        """The variance for these questions if the sampling probabilities were `more` times as
        large, at most 1.
        """
        rarer = np.maximum(self.weight / more, 1)
        return float(((rarer - 1) * self.weight * self.share**2 * self.squares).sum())

    def media_variance(self) -> float:
        """The variance for questions about media like these."""
        effects = self.share * (self.control + self.weight * self.residual)
        sums = np.bincount(self.media, effects)
        number = len(np.unique(self.media))
        # The part that stands for unseen residuals.
        rest = self.squares - self.residual**2
        floor = float(((self.share * self.weight) ** 2 * rest).sum())
        return float((sums**2).sum()) * number / max(1, number - 1) + floor

    def labels_needed(self, variance: float, labels: int) -> int:
        """How many more labels give this variance for these questions."""
        if self.sampling_variance() <= variance:
            return 0
        low, high = 1.0, float(self.weight.max())
        for _ in range(_STEPS):
            middle = math.sqrt(low * high)
            enough = self.sampling_variance(middle) <= variance
            low, high = (low, middle) if enough else (middle, high)
        return max(1, math.ceil(float(np.minimum(high, self.weight).sum()) - labels))


def _sample(
    questions: LabelledQuestions, weights: Array, measure: Measure, scores: Sequence[float]
) -> _Sample:
    code, labelled = questions.strata, questions.is_labelled
    count = len(weights)

    def total(values: Array) -> Array:
        sums: Array = np.bincount(code, values, minlength=count).astype(np.float64)
        return sums

    size = total(np.ones(len(code)))
    weight = np.where(labelled, 1 / np.where(labelled, questions.probability, 1), 0.0)
    # No more than a whole stratum: with weights of 1 all of it is labelled.
    weight = weight * (size / total(weight))[code]
    label = np.where(labelled[:, None], questions.labels, 0.0)
    people, *factors = measure.at(*(total(weight * label[:, one]) / size for one in (0, 1)))
    verdict = questions.verdicts
    judge, *_ = measure.at(*(total(verdict[:, one]) / size for one in (0, 1)))
    on_correct, on_hit = factors[0][code], factors[1][code]
    target = np.where(labelled, on_correct * label[:, 0] + on_hit * label[:, 1], 0.0)
    known = on_correct * verdict[:, 0] + on_hit * verdict[:, 1]
    target -= (total(weight * target) / size)[code]
    known -= (total(known) / size)[code]
    control = _slopes(questions, weight, target, known, count) * known
    control -= (total(control) / size)[code]
    residual = np.where(labelled, target - control, 0.0)
    missed = total(weight * residual) / size
    residual = np.where(labelled, residual - missed[code], 0.0)
    drawn = total(labelled.astype(np.float64))
    moves = measure.pairs(scores) @ np.vstack(factors)
    floor = _DISAGREEMENTS * (moves.max(axis=0) - moves.min(axis=0)) ** 2 / drawn.sum()
    squares = residual**2 * (drawn / np.maximum(drawn - 1, 1))[code] + floor[code]
    figures = people + missed
    return _Sample(
        float(figures @ weights),
        float(judge @ weights),
        float(people @ weights),
        questions.media,
        (weights / size)[code],
        control,
        weight,
        residual,
        np.where(labelled, squares, 0.0),
    )


def _slopes(
    questions: LabelledQuestions, weight: Array, target: Array, known: Array, count: int
) -> Array:
    """The factor l of each question, fitted in its stratum on the media of other folds."""
    fold, code, labelled = questions.media % _FOLDS, questions.strata, questions.is_labelled
    place = fold * count + code
    sums = [
        np.bincount(place, values, minlength=_FOLDS * count).reshape(_FOLDS, count)
        for values in (
            labelled.astype(np.float64),
            weight,
            weight * target,
            weight * known,
            weight * known * target,
            weight * known**2,
        )
    ]
    number, size, sum_target, sum_known, crossed, square = (one.sum(axis=0) - one for one in sums)
    size = np.maximum(size, 1e-12)
    crossed = crossed - sum_known * sum_target / size
    square = square - sum_known**2 / size
    slopes = crossed / np.maximum(square * (1 + _RIDGE / np.maximum(number, 1)), 1e-12)
    slope: Array = slopes[fold, code]
    return slope
