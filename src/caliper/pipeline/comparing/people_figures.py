"""Figures of a benchmark, estimated from people's labels of a sample and all verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from caliper.analysis.agreement import cluster_places
from caliper.analysis.prediction_powered import (
    LabelledQuestions,
    PeopleEstimate,
    estimate_by_people,
)
from caliper.analysis.sequential.measure import Array, Measure
from caliper.benchmarks.base import ReportLayout
from caliper.core.report import Path
from caliper.core.tally import Tally
from caliper.pipeline.comparing.figure_strata import MEASURES, stratum_weights
from caliper.pipeline.comparing.question_verdicts import QuestionVerdicts

MEAN_SCORE = "mean_score"
"""The figure of each dimension, if a benchmark's own are not means, precisions or F1."""


@dataclass(frozen=True, slots=True)
class PeopleTruth:
    """People's scores by question, one per person, and the probability with which each question
    was drawn.
    """

    scores: Mapping[str, Sequence[float]]
    probability: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PeopleFigure:
    """A figure and its estimate in the unit of scores, which `scale` converts to the figure's;
    None if `missing` more labels are needed.
    """

    path: Path
    scale: float
    estimate: PeopleEstimate | None
    missing: int = 0


@dataclass(frozen=True, slots=True)
class _Target:
    path: Path
    measure: Measure
    weights: Mapping[str, float]
    scale: float
    bounds: tuple[float, float]


def figures_by_people(
    questions: Sequence[QuestionVerdicts],
    truth: PeopleTruth,
    layout: ReportLayout,
    tally: Tally,
    width: float | None = None,
) -> list[PeopleFigure]:
    """Estimate the figures of one benchmark that are means, precisions or F1 of whole tasks or
    domains. `width` is the desired width of the interval, in the unit of each figure.
    """
    name = questions[0].first.benchmark
    strata = [f"{name}/{question.first.dimension}" for question in questions]
    targets = list(_targets(name, Counter(strata), layout, tally))
    figures = []
    for target in targets or _means(questions, strata):
        places = [place for place, stratum in enumerate(strata) if stratum in target.weights]
        codes = {stratum: code for code, stratum in enumerate(target.weights)}
        some = _labelled(
            [questions[place] for place in places],
            [codes[strata[place]] for place in places],
            truth,
            target.measure,
        )
        if missing := some.missing_labels(len(codes)):
            figures.append(PeopleFigure(target.path, target.scale, None, missing))
            continue
        estimate = estimate_by_people(
            some,
            list(target.weights.values()),
            target.measure,
            target.bounds,
            None if width is None else width / target.scale,
        )
        figures.append(PeopleFigure(target.path, target.scale, estimate))
    return figures


def _targets(
    name: str, sizes: Mapping[str, int], layout: ReportLayout, tally: Tally
) -> Iterator[_Target]:
    for figure in layout.figures:
        measure = MEASURES.get(figure.path[-1])
        weights = stratum_weights(name, figure, sizes, layout, tally)
        if measure is not None and weights and sizes.keys() >= weights.keys():
            low, high = (bound / figure.scale for bound in figure.bounds)
            yield _Target(figure.path, measure, weights, figure.scale, (low, high))


def _means(questions: Sequence[QuestionVerdicts], strata: Sequence[str]) -> Iterator[_Target]:
    scores = [score for question in questions for score in question.words.values()]
    for stratum in dict.fromkeys(strata):
        path = (stratum.partition("/")[2], MEAN_SCORE)
        yield _Target(path, Measure.MEAN, {stratum: 1.0}, 1.0, (min(scores), max(scores)))


def _labelled(
    questions: Sequence[QuestionVerdicts],
    codes: Sequence[int],
    truth: PeopleTruth,
    measure: Measure,
) -> LabelledQuestions:
    names = [question.first.question_id for question in questions]
    none = np.full(2, np.nan)
    return LabelledQuestions(
        strata=np.array(codes, dtype=np.intp),
        media=cluster_places([question.first.cluster for question in questions]),
        verdicts=np.array(
            [_mean(measure, [row.score or 0.0 for row in one.rows]) for one in questions]
        ),
        labels=np.array(
            [_mean(measure, truth.scores[one]) if one in truth.scores else none for one in names]
        ),
        probability=np.array([truth.probability.get(one, np.nan) for one in names]),
    )


def _mean(measure: Measure, scores: Sequence[float]) -> Array:
    pair: Array = measure.pairs(scores).mean(axis=0)
    return pair
