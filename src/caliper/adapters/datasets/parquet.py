"""Parquet tables, read in batches and without embedded pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.core.errors import InvalidInput
from caliper.core.rows import Row
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = lazy_module("pyarrow")
    pq = lazy_module("pyarrow.parquet")

_BATCH = 256
_MOST_UNPACKED = 512 << 20
"""The most bytes of a column in a row group, as its footer says: they may all be in memory."""
_BYTES = frozenset({"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"})


def rows(path: Path, most: int = _MOST_UNPACKED) -> Iterator[Row]:
    """Read one row per record; `Row.line` is its position from 1.

    Raw binary columns, such as `bytes` in the image structs of the hub's datasets, are skipped:
    pictures come from the media folder. Raises InvalidInput for a file that is not parquet, is
    truncated, contains NaN, or unpacks to more than `most` bytes in a column of a row group.
    """
    try:
        # Pre-buffering would hold all columns of a row group in memory at once.
        with pq.ParquetFile(path, pre_buffer=False) as file:
            leaves = _readable_leaves(file)
            if not leaves:
                raise InvalidInput("the table has no column but binary ones", file=str(path))
            size = _batch_size(path, file.metadata, leaves, most)
            number = 0
            for batch in file.iter_batches(batch_size=size, columns=leaves, use_threads=False):
                for fields in batch.to_pylist():
                    number += 1
                    row = Row(str(path), number, fields)
                    _refuse_nan(row)
                    yield row
    except (pa.ArrowException, OSError) as error:
        raise broken_table(path, error) from error


def schema(path: Path) -> pa.Schema:
    """The columns of a file. Raises InvalidInput if it is unreadable."""
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise broken_table(path, error) from error


def broken_table(path: Path, error: Exception) -> InvalidInput:
    """The error for a file that is not parquet, or broken."""
    return InvalidInput(f"not a readable parquet file: {error}", file=str(path))


def _readable_leaves(file: pq.ParquetFile) -> list[str]:
    """Dotted paths of the leaf columns, except raw binary ones."""
    columns = [file.schema.column(place) for place in range(len(file.schema))]
    return [
        column.path
        for column in columns
        if column.physical_type not in _BYTES or column.logical_type.type != "NONE"
    ]


def _batch_size(path: Path, data: pq.FileMetaData, leaves: list[str], most: int) -> int:
    """How many rows take at most `most` bytes, even if every one repeats all of a dictionary.
    Raises InvalidInput for a column that unpacks to more.
    """
    shared = 1
    for group in map(data.row_group, range(data.num_row_groups)):
        columns = map(group.column, range(group.num_columns))
        read = [column for column in columns if column.path_in_schema in leaves]
        for column in read:
            size = column.total_uncompressed_size
            if size > most:
                message = f"unpacks to {size} bytes in a row group, over {most}"
                message += ": write smaller row groups"
                raise InvalidInput(message, file=str(path), field=column.path_in_schema)
        sizes = [each.total_uncompressed_size for each in read if each.has_dictionary_page]
        shared = max(shared, sum(sizes))
    return min(_BATCH, max(1, most // shared))


def _refuse_nan(row: Row) -> None:
    for field, value in row.fields.items():
        if not _finite(value):
            raise row.error(field, "NaN or infinity where a value should be")


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return all(map(_finite, value)) if isinstance(value, list) else True
