"""verdicts.parquet: the rows of verdicts.jsonl as columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from caliper.adapters.exports.jsonl import record, row_of
from caliper.adapters.files import encode_text, open_replacement
from caliper.core.report import Report, VerdictRow

# Rows held in memory at once: some ten megabytes with replies of a few kilobytes.
_GROUP = 4096
_TEXT, _WHOLE = pa.string(), pa.int64()
_COLUMNS: tuple[tuple[str, pa.DataType, bool], ...] = (
    ("index", _WHOLE, False),
    ("benchmark", _TEXT, False),
    ("task", _TEXT, False),
    ("item", _TEXT, False),
    ("sample_id", _TEXT, False),
    ("cluster", _TEXT, False),
    ("media", pa.list_(_TEXT), False),
    ("question_id", _TEXT, False),
    ("question", _TEXT, False),
    ("expected", _TEXT, False),
    ("repeat", _WHOLE, False),
    ("outcome", _TEXT, False),
    ("score", pa.float64(), True),
    ("reason", _TEXT, False),
    ("explanation", _TEXT, False),
    ("reply", _TEXT, False),
    ("repaired", pa.bool_(), False),
    ("judge", _TEXT, False),
)
SCHEMA = pa.schema(
    [pa.field(name, kind, nullable=nullable) for name, kind, nullable in _COLUMNS],
    metadata={"caliper.schema": "1"},
)


class ParquetExport:
    """Writes verdicts.parquet in row groups; the bytes depend only on the rows."""

    def write(self, _: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        path = directory / "verdicts.parquet"
        with (
            open_replacement(path) as file,
            pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer,
        ):
            while group := [_storable(record(row)) for row in islice(verdicts, _GROUP)]:
                writer.write_table(pa.Table.from_pylist(group, schema=SCHEMA))
        return path


def read_rows(data: bytes) -> Iterator[VerdictRow]:
    """The rows of verdicts.parquet, one group in memory at a time."""
    with pq.ParquetFile(pa.BufferReader(data)) as file:
        for batch in file.iter_batches(_GROUP):
            yield from map(row_of, batch.to_pylist())


def _storable(columns: dict[str, Any]) -> dict[str, Any]:
    """Make texts valid UTF-8: a lone surrogate from a broken reply becomes its escape."""
    texts = {
        name: encode_text(value).decode()
        for name, value in columns.items()
        if isinstance(value, str)
    }
    return columns | texts | {"media": [encode_text(name).decode() for name in columns["media"]]}
