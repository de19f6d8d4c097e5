"""Pictures inside parquet files, as the Hub's datasets have them, unpacked into a folder once."""

from __future__ import annotations

import errno
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from caliper.adapters.datasets import parquet
from caliper.adapters.datasets.parquet import broken_table, schema
from caliper.adapters.files import fill_folder
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = lazy_module("pyarrow")
    pq = lazy_module("pyarrow.parquet")

_ROWS = 8
_NAMELESS = frozenset({errno.ENAMETOOLONG, errno.EEXIST, errno.EISDIR, errno.ENOTDIR})
_SHARD = re.compile(r"-\d+-of-\d+")
NAMES = ("image_paths", "image_path", "file_path", "image_name", "file_name")
"""Columns that name a row's pictures, if the pictures themselves do not: datasets read them."""


def has_pictures(file: Path) -> bool:
    """Whether a file is parquet with pictures in it. Raises InvalidInput if it is unreadable."""
    return file.suffix.lower() == ".parquet" and bool(_columns(schema(file)))


class SplitPictures:
    """The rows of parquet files. Pictures of several splits may have one name, if each split counts
    its own: such a name begins with the split.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._columns = {file: _columns(schema(file)) for file in files if has_pictures(file)}
        splits: dict[str, set[str]] = {}
        if len({split_of(file) for file in self._columns}) > 1:
            for file, columns in self._columns.items():
                for row in parquet.rows(file):
                    for name in _texts([row.fields.get(each) for each in (*NAMES, *columns)]):
                        splits.setdefault(name, set()).add(split_of(file))
        self._shared = frozenset(name for name, each in splits.items() if len(each) > 1)

    def name(self, file: Path, name: str) -> str:
        """The name of a picture of a file among those of all files."""
        return f"{split_of(file)}/{name}" if name in self._shared else name

    def row(self, file: Path, row: Row) -> Row:
        """A row of a file, whose pictures have these names."""
        if not self._shared or file not in self._columns:
            return row
        columns = (*NAMES, *self._columns[file])
        fields = renamed(row.fields, columns, f"{split_of(file)}/", self._shared)
        return replace(row, fields=fields)


def split_of(file: Path) -> str:
    """The split that a file is, or is a shard of: `test` of `test-00000-of-00002.parquet`."""
    return _SHARD.sub("", file.stem)


def renamed(
    fields: Mapping[str, Any],
    columns: Container[str],
    prefix: str,
    names: Container[str] | None = None,
) -> dict[str, Any]:
    """Fields whose names of pictures, in some columns, begin with `prefix`: those of `names`, else
    all.
    """

    def own(value: Any) -> Any:
        if isinstance(value, str):
            return prefix + value if value and (names is None or value in names) else value
        if isinstance(value, Mapping):
            return {key: own(each) if key == "path" else each for key, each in value.items()}
        return [own(each) for each in value] if isinstance(value, list) else value

    return {key: own(value) if key in columns else value for key, value in fields.items()}


def _texts(value: Any) -> Iterator[str]:
    """The names of pictures in a value of a column."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(value.get("path"))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


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
    pictures = SplitPictures(files)
    for file in files:
        for line, own, data in _pictures(file):
            name = pictures.name(file, own)
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
    names = [name for name in NAMES if name in columns.names]
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
