"""Pictures inside parquet files, as the Hub's datasets have them, unpacked into a folder once."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from caliper.adapters.datasets.parquet import broken_table, schema
from caliper.adapters.files import fill_folder
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = lazy_module("pyarrow")
    pq = lazy_module("pyarrow.parquet")

_ROWS = 8
_NAMELESS = frozenset({errno.ENAMETOOLONG, errno.EEXIST, errno.EISDIR, errno.ENOTDIR})
_NAMES = ("image_paths", "image_path", "file_path", "image_name", "file_name")
"""Columns that name a row's pictures, if the pictures themselves do not: datasets read them."""


def has_pictures(file: Path) -> bool:
    """Whether a file is parquet with pictures in it. Raises InvalidInput if it is unreadable."""
    return file.suffix.lower() == ".parquet" and bool(_columns(schema(file)))


def unpack_pictures(files: Sequence[Path], folder: Path, most: int, most_bytes: int) -> Path:
    """Write the pictures of parquet files below `folder`, under the names that their rows have for
    them, and return it. If it exists, that was done before.

    A picture of more than `most` bytes is left out. Raises InvalidInput naming file and row if
    there are more than `most_bytes` in all, for an unusable name, and for two pictures of one name;
    StoreFull or StoreUnavailable.
    """
    return fill_folder(folder, lambda part: _write(files, part, most, most_bytes))


def _write(files: Sequence[Path], folder: Path, most: int, most_bytes: int) -> None:
    left = most_bytes
    for file in files:
        for line, name, data in _pictures(file):
            parts = PurePosixPath(name).parts
            if not parts or parts[0] == "/" or ".." in parts or "\0" in name:
                message = f"not a name of a picture: {name!r:.80}"
                raise InvalidInput(message, file=str(file), line=line)
            if len(data) > most:
                continue
            left -= len(data)
            if left < 0:
                message = f"the pictures in it take more than {most_bytes:,} bytes"
                raise InvalidInput(message, file=str(file), line=line)
            try:
                is_new = _save(folder.joinpath(*parts), data)
            except OSError as error:
                if error.errno not in _NAMELESS:
                    raise
                message = f"no file can have this name: {name!r:.80}"
                raise InvalidInput(message, file=str(file), line=line) from error
            if not is_new:
                message = f"another picture is named {name!r:.80} too; evaluate its file on its own"
                raise InvalidInput(message, file=str(file), line=line)


def _save(place: Path, data: bytes) -> bool:
    """Write a picture; False if another has its name."""
    if place.exists() and place.read_bytes() != data:
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return True


def _pictures(file: Path) -> Iterator[tuple[int, str, bytes]]:
    """Row, name and bytes of each picture that has a name."""
    columns = schema(file)
    pictures = _columns(columns)
    if not pictures:
        return
    names = [name for name in _NAMES if name in columns.names]
    try:
        with pq.ParquetFile(file, pre_buffer=False) as table:
            line = 0
            for batch in table.iter_batches(_ROWS, columns=[*pictures, *names], use_threads=False):
                for row in batch.to_pylist():
                    line += 1
                    yield from ((line, *each) for each in _of_row(row, pictures, names))
    except (pa.ArrowException, OSError) as error:
        raise broken_table(file, error) from error


def _of_row(
    row: dict[str, Any], pictures: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    for column in pictures:
        entries = [each for each in _listed(row[column]) if each is not None]
        paths = next(
            (listed for name in names if len(listed := _listed(row[name])) == len(entries)), None
        )
        for place, picture in enumerate(entries):
            name = picture.get("path") if paths is None else paths[place]
            if isinstance(name, str) and name and picture["bytes"]:
                yield name, picture["bytes"]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _columns(table: pa.Schema) -> list[str]:
    return [field.name for field in table if _is_picture(field.type)]


def _is_picture(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_picture(kind.value_type)
    if not pa.types.is_struct(kind):
        return False
    fields = {field.name: field.type for field in kind}
    content = fields.get("bytes")
    return "path" in fields and (content == pa.binary() or content == pa.large_binary())
