"""verdicts.jsonl: one line per (question, repeat), with the columns of verdicts.parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from caliper.adapters.files import encode_text, open_replacement
from caliper.core.report import Report, VerdictRow

_TERMS = {"dimension": "task", "sample": "sample_id"}
_COLUMNS = tuple(
    (_TERMS.get(field.name, field.name), field.name)
    for field in fields(VerdictRow)
    if field.name != "category"
)


def record(row: VerdictRow) -> dict[str, Any]:
    """One verdict row by column name, in column order.

    `task` is the dimension and `sample_id` the sample: the papers' terms. If `score` is None,
    `reason` says why.
    """
    columns = {column: getattr(row, field) for column, field in _COLUMNS}
    return columns | {"media": list(row.media)}


def row_of(columns: Mapping[str, Any]) -> VerdictRow:
    """The row that `record` wrote."""
    values = {field: columns[column] for column, field in _COLUMNS}
    return VerdictRow(**values | {"media": tuple(values["media"])})


class JsonLinesExport:
    """Writes verdicts.jsonl line by line; columns as in `record`."""

    def write(self, _: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        path = directory / "verdicts.jsonl"
        with open_replacement(path) as file:
            for row in verdicts:
                line = json.dumps(record(row), ensure_ascii=False, allow_nan=False)
                file.write(encode_text(line + "\n"))
        return path
