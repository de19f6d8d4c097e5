"""People's scores of models or captions, and the correlation of metrics with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from caliper.analysis.caption_metrics.measures import CaptionMeasure
from caliper.analysis.correlation import CorrelationEstimate, estimate_correlation

Measures = Mapping[str, Sequence[CaptionMeasure]]
"""The metrics of each model."""
Target = tuple[str, str | None]
"""The subject of a score: a model, or its caption of an image."""


@dataclass(frozen=True, slots=True)
class HumanScores:
    """The scores that people gave. `noun` is what they scored: models or captions."""

    noun: str
    scores: Mapping[Target, float]

    @property
    def shared_images(self) -> frozenset[str | None]:
        """The images that people scored of every model."""
        images: dict[str, set[str | None]] = {}
        for model, image in self.scores:
            images.setdefault(model, set()).add(image)
        return frozenset.intersection(*map(frozenset, images.values()))

    @property
    def by_model(self) -> HumanScores:
        """The mean score of each model (CompreCap, F: "used as the final score"), over the images
        that were scored of every model, if there are any.
        """
        shared = self.shared_images
        models: dict[str, list[float]] = {}
        for (model, image), score in self.scores.items():
            if image in shared or not shared:
                models.setdefault(model, []).append(score)
        return HumanScores(
            "models", {(model, None): fmean(scores) for model, scores in models.items()}
        )

    def correlate(self, measures: Measures) -> dict[str, CorrelationEstimate]:
        """The correlation of each metric with the scores.

        Those without a value of a metric are left out of its correlation; `models` counts the rest.
        """
        by_name = {model: {one.name: one for one in some} for model, some in measures.items()}
        names = dict.fromkeys(name for some in by_name.values() for name in some)
        return {name: self._correlate(name, by_name) for name in names}

    def _correlate(
        self, name: str, measures: Mapping[str, Mapping[str, CaptionMeasure]]
    ) -> CorrelationEstimate:
        rows = [
            (value, score, image or model)
            for (model, image), score in self.scores.items()
            if (value := _value(measures[model].get(name), image)) is not None
        ]
        return estimate_correlation(
            [value for value, _, _ in rows],
            [score for _, score, _ in rows],
            noun=self.noun,
            images=[image for _, _, image in rows],
        )


def _value(measure: CaptionMeasure | None, image: str | None) -> float | None:
    if measure is None:
        return None
    return measure.whole.value if image is None else measure.by_image.get(image)
