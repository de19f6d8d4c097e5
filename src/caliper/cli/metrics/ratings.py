"""People's scores of models or captions, and the correlation of metrics with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.datasets.csvrows import CsvTable, read_csv
from caliper.adapters.datasets.references import IDENTIFIERS, image_of
from caliper.analysis.caption_metrics.measures import CaptionMeasure
from caliper.analysis.correlation import CorrelationEstimate, estimate_correlation
from caliper.cli.correlation import MODEL, read_scores, score_of
from caliper.core.errors import InvalidInput

Measures = Mapping[str, Sequence[CaptionMeasure]]
"""The metrics of each model."""
Target = tuple[str, str | None]
"""What a person scored: a model, or its caption of an image."""


@dataclass(frozen=True, slots=True)
class HumanScores:
    """The scores that people gave. `noun` is what they scored: models or captions."""

    noun: str
    scores: Mapping[Target, float]

    def correlate(self, measures: Measures) -> dict[str, CorrelationEstimate]:
        """The correlation of each metric with the scores.

        Captions of one image are not independent, so there is no interval if several were scored.
        """
        images = [image for _, image in self.scores]
        independent = self.noun == "models" or len(set(images)) == len(images)
        names = [one.name for one in next(iter(measures.values()))]
        estimates: dict[str, CorrelationEstimate] = {}
        for place, name in enumerate(names):
            values = [_value(measures[model][place], image) for model, image in self.scores]
            estimates[name] = estimate_correlation(
                values, list(self.scores.values()), noun=self.noun, independent=independent
            )
        return estimates


def _value(measure: CaptionMeasure, image: str | None) -> float:
    return (measure.whole.value or 0.0) if image is None else measure.by_image[image]


def read_human_scores(path: Path, column: str, measures: Measures) -> HumanScores:
    """The scores in a CSV file of what was measured; others are ignored.

    Rows score captions if there is a column with the image, else models. Captions of a single
    model need no column `model`. Raises InvalidInput naming file, line and field.
    """
    table = read_csv(path)
    if not set(IDENTIFIERS) & set(table.columns):
        scores: dict[Target, float] = {
            (model, None): score
            for model, score in read_scores(path, column).items()
            if model in measures
        }
        return HumanScores("models", _known(scores, path, MODEL))
    return HumanScores("captions", _captions(table, column, measures))


def _captions(table: CsvTable, column: str, measures: Measures) -> dict[Target, float]:
    (first, *others) = measures
    table.require(column)
    if others:
        table.require(MODEL)
    scores: dict[Target, float] = {}
    seen: set[Target] = set()
    for row in table.rows:
        model, image = row.text(MODEL) if MODEL in table.columns else first, image_of(row)
        if (model, image) in seen:
            raise row.error(column, f"the caption of {image} by {model} is scored twice")
        seen.add((model, image))
        score = score_of(row, column)
        if model in measures and image in measures[model][0].by_image:
            scores[model, image] = score
    return _known(scores, table.file, "image")


def _known(scores: dict[Target, float], path: Path, field: str) -> dict[Target, float]:
    if not scores:
        raise InvalidInput("no score of what was measured", file=str(path), field=field)
    return scores
