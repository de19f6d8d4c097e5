"""How metrics agree with people (paper 4.2, A.2, Tables 3, S3 and S4, Figs. S1 and S6).

Pearson's r, Kendall's tau and Spearman's rho of every metric with people's scores: over models, as
in Table 3, and over single captions if people scored those; a model's score is then the mean of
its captions', over the images scored of every model. The metrics are Caliper's figures, of a run
or of one picture, and those of `caliper metrics` if there are references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from caliper.analysis.caption_metrics.measures import CaptionMeasure
from caliper.analysis.comprecap.scenes import TITLES, SceneRun
from caliper.analysis.correlation import CorrelationEstimate
from caliper.analysis.human_scores import HumanScores, Measures
from caliper.core.report import Estimate

_NOBODY = "people's scores are needed (--people PATH)"
_OTHER_IMAGES = "people scored no image of all models: their means are over other images"


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """The correlation of a metric with people's scores."""

    metric: str
    estimate: CorrelationEstimate


@dataclass(frozen=True, slots=True)
class ScoredModel:
    """A model's mean score by people, and its metrics (Table S3)."""

    name: str
    human: float
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class HumanCorrelation:
    """The correlations over models, and over captions if people scored those."""

    scored: tuple[ScoredModel, ...] = ()
    models: tuple[MetricCorrelation, ...] = ()
    captions: tuple[MetricCorrelation, ...] = ()
    remark: str = ""


def human_correlation(measures: Measures, human: HumanScores | None) -> HumanCorrelation:
    """Correlate the metrics of models with people's scores."""
    if human is None:
        return HumanCorrelation(remark=_NOBODY)
    means = human.by_model
    scored = []
    for (model, _), score in means.scores.items():
        values = {one.name: one.whole.value for one in measures[model]}
        metrics = {name: value for name, value in values.items() if value is not None}
        scored.append(ScoredModel(model, score, metrics))
    over_models = _correlations(means, measures)
    over_captions = _correlations(human, measures) if human.noun == "captions" else ()
    firsts = {"models": over_models[:1], "captions": over_captions[:1]}
    remarks = [
        f"over {noun}: {one.estimate.remark}"
        for noun, first in firsts.items()
        for one in first
        if one.estimate.remark
    ]
    remarks += [_OTHER_IMAGES] if not human.shared_images else []
    return HumanCorrelation(tuple(scored), over_models, over_captions, "; ".join(remarks))


def _correlations(human: HumanScores, measures: Measures) -> tuple[MetricCorrelation, ...]:
    correlations = human.correlate(measures)
    return tuple(
        MetricCorrelation(name, estimate)
        for name, estimate in correlations.items()
        # A metric of models only, such as CompreQA's, has no values of captions.
        if estimate.models
    )


def measures_of(
    runs: Sequence[SceneRun], others: Mapping[str, Sequence[CaptionMeasure]] | None = None
) -> Measures:
    """The metrics of each run: Caliper's figures, then `others` by the run's name."""
    return {run.name: [*_figures(run), *(others or {}).get(run.name, ())] for run in runs}


def _figures(run: SceneRun) -> list[CaptionMeasure]:
    return [
        CaptionMeasure(
            title,
            Estimate(run.figures.get(name)),
            {image: figures[name] for image, figures in run.by_picture.items() if name in figures},
        )
        for name, title in TITLES.items()
    ]
