"""Reads scores of models or captions: people's, and those of metrics of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from caliper.adapters.datasets.csvrows import CsvTable, read_csv
from caliper.adapters.datasets.references import IDENTIFIERS, image_of
from caliper.analysis.caption_metrics.measures import CaptionMeasure
from caliper.analysis.human_scores import HumanScores, Measures, Target
from caliper.cli.correlation import MODEL, model_rows, read_scores, score_of
from caliper.core.errors import InvalidInput
from caliper.core.report import Estimate
from caliper.core.rows import Row

HumanScoresFile = Annotated[
    Path | None,
    typer.Option(
        "--people",
        metavar="PATH",
        help="CSV with a score per model (column model), per caption (image_id), or both.",
    ),
]


def read_human_scores(path: Path, column: str, measures: Measures) -> HumanScores:
    """The scores of measured models or captions in a CSV file; others are ignored.

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
        return HumanScores("models", _not_empty(scores, path, MODEL))
    return HumanScores("captions", _captions(table, column, measures))


def _captions(table: CsvTable, column: str, measures: Measures) -> dict[Target, float]:
    table.require(column)
    scores: dict[Target, float] = {}
    for row, model, image in _scored_captions(table, list(measures)):
        score = score_of(row, column)
        if any(image in one.by_image for one in measures.get(model, ())):
            scores[model, image] = score
    return _not_empty(scores, table.file, "image")


def read_metric_scores(path: Path, models: Sequence[str]) -> dict[str, list[CaptionMeasure]]:
    """The metrics in a CSV file of these models: every column that names no model and no image.

    Rows are as people's. An empty cell is no value. The metric of a model is the mean over the
    images that have a value of every model, if there are any. Raises InvalidInput naming file, line
    and field.
    """
    table = read_csv(path)
    names = [name for name in table.columns if name not in (MODEL, *IDENTIFIERS)]
    if not names:
        raise InvalidInput("no column of a metric", file=str(path))
    by_caption = bool(set(IDENTIFIERS) & set(table.columns))
    rows: Iterable[tuple[Row, str, str | None]] = (
        _scored_captions(table, models)
        if by_caption
        else ((row, model, None) for row, model in model_rows(table))
    )
    values: dict[str, dict[Target, float]] = {name: {} for name in names}
    for row, model, image in rows:
        for name in names:
            if (row.fields[name] or "").strip():
                score = score_of(row, name)
                if model in models:
                    values[name][model, image] = score
    measures: dict[str, list[CaptionMeasure]] = {model: [] for model in models}
    for name, targets in values.items():
        _not_empty(targets, path, name)
        for (model, _), whole in HumanScores("captions", targets).by_model.scores.items():
            by_image = {
                image: value
                for (scored, image), value in targets.items()
                if scored == model and image is not None
            }
            measures[model].append(CaptionMeasure(name, Estimate(whole), by_image))
    return measures


def _scored_captions(table: CsvTable, models: Sequence[str]) -> Iterator[tuple[Row, str, str]]:
    """The rows with their models and images. Captions of a single model need no model's name."""
    if len(models) > 1:
        table.require(MODEL)
    field = next(name for name in IDENTIFIERS if name in table.columns)
    seen: set[tuple[str, str]] = set()
    for row in table.rows:
        model = row.text(MODEL) if MODEL in table.columns else models[0]
        image = image_of(row)
        if (model, image) in seen:
            raise row.error(field, f"the caption of {image} by {model} is scored twice")
        seen.add((model, image))
        yield row, model, image


def _not_empty(scores: dict[Target, float], path: Path, field: str) -> dict[Target, float]:
    if not scores:
        raise InvalidInput("no score of a measured model or caption", file=str(path), field=field)
    return scores
