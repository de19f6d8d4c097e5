"""The columns of verdicts.jsonl and verdicts.parquet."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from caliper.core.report import VerdictRow

_TERMS = {"dimension": "task", "sample": "sample_id"}
_COLUMNS = tuple((_TERMS.get(field.name, field.name), field.name) for field in fields(VerdictRow))


def record(row: VerdictRow) -> dict[str, Any]:
    """One verdict row by column name, in column order.

    `task` is the dimension and `sample_id` the sample: the papers' terms. If `score` is None,
    `reason` says why.
    """
    columns = {column: getattr(row, field) for column, field in _COLUMNS}
    return columns | {"media": list(row.media)}
