"""Reads people's scores of models from a CSV file with one row per model.

    model,score
    my-checkpoint-a,3.42
    my-checkpoint-b,2.39

`model` is the label of a run. Other columns are ignored.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from caliper.core.errors import InvalidInput

MODEL = "model"


def read_scores(path: Path, column: str) -> dict[str, float]:
    """The scores in a column by model. Raises InvalidInput naming file, line and field."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot be read: {error}", file=str(path)) from error
    # Keep line ends as they are: quoted fields may contain them.
    rows = csv.DictReader(io.StringIO(text, newline=""))
    try:
        return _scores(rows, path, column)
    except csv.Error as error:
        line = rows.reader.line_num
        raise InvalidInput(f"broken CSV: {error}", file=str(path), line=line) from error


def _scores(rows: csv.DictReader[str], path: Path, column: str) -> dict[str, float]:
    for name in (MODEL, column):
        if name not in (rows.fieldnames or ()):
            existing = ", ".join(rows.fieldnames or ()) or "none"
            raise InvalidInput(f"no such column; there are: {existing}", file=str(path), field=name)
    scores: dict[str, float] = {}
    for row in rows:
        model = (row[MODEL] or "").strip()
        if not model or model in scores:
            problem = "the model appears twice" if model else "expected a model's label"
            raise InvalidInput(problem, file=str(path), line=rows.line_num, field=MODEL)
        scores[model] = _number(row[column], path, rows.line_num, column)
    return scores


def _number(text: str | None, path: Path, line: int, column: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"expected a number, found {text!r:.40}", file=str(path), line=line, field=column
        )
    return number
