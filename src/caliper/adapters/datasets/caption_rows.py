"""Rows of captions in JSON, CSV, TSV and Parquet, and in the predictions of VLMEvalKit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.rows import Row

NAMES = (
    *("sample", "sample_id", "id", "file_id", "key"),
    *("image_path", "image", "image_name", "file_name", "filename", "file_path"),
    *("video_path", "video", "image_id", "video_id", "question_id", "index"),
)
"""The columns that may name the sample, the surest first."""
UNSURE = ("question_id", "index", "target")
"""They name the sample in some files, and hold the row's position or the answer in others."""
TEXTS = ("caption", "prediction", "pred", "response", "model_response", "output", "text")
"""The columns that may hold the caption."""
COLUMNS = frozenset({"benchmark", "task", *NAMES, *TEXTS})
_TASK = "task/file_id"
_LONGEST_NAME = 1024
_MOST_LISTED = 10
_FAILED = "Failed to obtain answer"
"""The beginning of a prediction that VLMEvalKit failed to get."""


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """A row about the caption of a sample. `names` are the values that may name the sample, by
    field, the surest first. `text` is None for a missing caption, `benchmark` if none is named.
    """

    row: Row
    names: Mapping[str, str]
    text: str | None
    benchmark: str | None = None


def sample_names(fields: Mapping[str, Any]) -> dict[str, str]:
    """The values that may name the sample, by field, the surest first."""
    values = {name: _name_in(fields[name]) for name in NAMES if name in fields}
    names = {name: value for name, value in values.items() if value is not None}
    task = fields.get("task")
    if isinstance(task, str) and "file_id" in names:
        return {_TASK: f"{task}/{names['file_id']}", **names}
    return names


def _name_in(value: Any) -> str | None:
    """A text or whole number; of a picture in a table its path."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        value = value.get("path")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    # Longer texts are pictures in base64.
    usable = isinstance(value, str) and value.strip() and len(value) <= _LONGEST_NAME
    return value if usable else None


def table_row(row: Row) -> CaptionRow:
    """A row with one column for the caption. Raises InvalidInput unless there is exactly one."""
    named = [name for name in TEXTS if name in row.fields]
    if not named:
        raise _unknown_columns(row, "the caption", TEXTS)
    if len(named) > 1:
        raise row.error(named[1], f"both {named[0]} and {named[1]} may be the caption: keep one")
    return _with_text(row, caption_text(row, named[0], row.fields[named[0]]))


def cell_row(row: Row) -> CaptionRow:
    """Like `table_row`, for tables of text. An empty cell is refused: the caption may be missing
    or blank.
    """
    read = table_row(row)
    if read.text == "":
        field = next(name for name in TEXTS if name in row.fields)
        message = "leave out the row if there is no caption, write a space if it is blank"
        raise row.error(field, f"the cell is empty: {message}")
    return read


def prediction_row(row: Row) -> CaptionRow:
    """A row of VLMEvalKit's. Its failures are missing captions."""
    text = caption_text(row, "prediction", row.fields.get("prediction"))
    return _with_text(row, None if text is not None and text.startswith(_FAILED) else text)


def caption_text(row: Row, field: str, value: Any) -> str | None:
    """The caption in a field; None if it is missing. Raises InvalidInput for another value."""
    if not isinstance(value, str | None):
        raise row.error(field, f"expected a caption, found {value!r:.60}")
    return value


def _with_text(row: Row, text: str | None) -> CaptionRow:
    names = sample_names(row.fields)
    if not names:
        raise _unknown_columns(row, "the sample", NAMES)
    benchmark = row.fields.get("benchmark")
    # Not the whole row: a table may have more columns than memory has room for.
    bare = replace(row, fields={})
    return CaptionRow(bare, names, text, benchmark if isinstance(benchmark, str) else None)


def _unknown_columns(row: Row, noun: str, accepted: tuple[str, ...]) -> InvalidInput:
    """The error for a row without any of the accepted columns."""
    columns = [str(name) for name in row.fields]
    more = f" and {len(columns) - _MOST_LISTED} more" if len(columns) > _MOST_LISTED else ""
    listed = f"{', '.join(columns[:_MOST_LISTED])}{more}"
    return row.error("", f"no column for {noun}: expected {', '.join(accepted)}; found {listed}")


def is_prediction(fields: Mapping[str, Any]) -> bool:
    """Whether VLMEvalKit wrote a row."""
    return "index" in fields and "prediction" in fields


def object_captions(rows: Iterator[Row]) -> Iterator[CaptionRow]:
    """The captions in an object, key to text. Raises InvalidInput for a value that is not text."""
    for row in rows:
        key = row.text("key")
        text = caption_text(row, key, row.fields.get("value"))
        yield CaptionRow(replace(row, fields={}), {"key": key}, text)
