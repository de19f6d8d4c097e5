"""Reads people's scores of models or captions."""

from __future__ import annotations

from pathlib import Path

from caliper.adapters.datasets.csvrows import CsvTable, read_csv
from caliper.adapters.datasets.references import IDENTIFIERS, image_of
from caliper.analysis.human_scores import HumanScores, Measures, Target
from caliper.cli.correlation import MODEL, read_scores, score_of
from caliper.core.errors import InvalidInput


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
        if model in measures and any(image in one.by_image for one in measures[model]):
            scores[model, image] = score
    return _not_empty(scores, table.file, "image")


def _not_empty(scores: dict[Target, float], path: Path, field: str) -> dict[Target, float]:
    if not scores:
        raise InvalidInput("no score of a measured model or caption", file=str(path), field=field)
    return scores
