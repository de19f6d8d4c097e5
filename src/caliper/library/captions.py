"""Captions as Python has them: mappings, data frames, tables and files of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

from caliper.adapters.datasets.jsonrows import line_rows
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest
from caliper.core.layout import FileFormat
from caliper.core.rows import Row
from caliper.local.caption_files import write_captions

_KEYS = ("sample", "sample_id")
"""The columns that name the sample: as in captions.jsonl and as in verdicts.parquet."""
Texts = Mapping[str, str]


class CaptionTable(Protocol):
    """A data frame of pandas or polars, or an Arrow table."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


def texts_of(given: Any, names: Iterable[str]) -> dict[str, Texts] | None:
    """The captions for each benchmark of `names` by sample; None for a path to captions in a
    benchmark's own layout.

    Raises InvalidInput for anything else than captions.
    """
    if isinstance(given, str | PathLike):
        path = Path(fspath(given))
        if not _holds_rows(path, names):
            return None
        return _by_benchmark(line_rows(path), names)
    if isinstance(given, Mapping):
        return _of_mapping(given, tuple(names))
    columns = getattr(given, "columns", None)
    if columns is not None:
        return _by_benchmark(_rows_of(given), names)
    raise InvalidInput(
        f"expected a mapping, a data frame, a path or a function, found {type(given).__name__}",
        field="captions",
    )


def save(name: str, texts: Texts, folder: Path) -> Path:
    """Write captions below `folder`, in a place of their own. Raises InvalidInput if there are
    none, and what `write_captions` raises.
    """
    if not texts:
        raise InvalidInput(f"there are none for {name}", field="captions")
    return write_captions(name, texts, folder / f"{name}-{digest(dict(texts))[:16]}")


def _holds_rows(path: Path, names: Iterable[str]) -> bool:
    """Whether a file of lines is like the captions.jsonl of a run: no benchmark has such files, or
    the first line is not of one.
    """
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    if all(benchmark(name).captions.format is not FileFormat.JSONL_FOLDER for name in names):
        return True
    with path.open("rb") as file:
        try:
            first = json.loads(file.readline())
        except ValueError:
            return False
    return isinstance(first, dict) and "caption" in first and any(key in first for key in _KEYS)


def _of_mapping(given: Mapping[Any, Any], names: tuple[str, ...]) -> dict[str, Texts]:
    if given and all(isinstance(value, Mapping) for value in given.values()):
        if unknown := [key for key in given if key not in names]:
            raise InvalidInput(f"captions of {unknown[0]}, which is not evaluated")
        return {name: _texts(given.get(name, {}).items()) for name in names}
    texts = _texts(given.items())
    return dict.fromkeys(names, texts)


def _rows_of(frame: CaptionTable) -> list[Row]:
    """The rows of a pandas or polars data frame, or of an Arrow table."""
    names = getattr(frame, "column_names", None) or [str(name) for name in frame.columns]
    columns = [name for name in ("benchmark", *_KEYS, "caption") if name in names]
    values = [_list(frame[name]) for name in columns]
    return [
        Row("captions", number, dict(zip(columns, row, strict=True)))
        for number, row in enumerate(zip(*values, strict=True), start=1)
    ]


def _list(column: Any) -> list[Any]:
    # By the method that each library has.
    for method in ("to_pylist", "to_list"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _by_benchmark(rows: Iterable[Row], names: Iterable[str]) -> dict[str, Texts]:
    texts: dict[str, dict[str, str]] = {name: {} for name in names}
    for row in rows:
        fields = row.fields
        key = next((key for key in _KEYS if key in fields), None)
        if key is None or "caption" not in fields:
            raise row.error("", f"expected the columns {_KEYS[0]} and caption")
        of = fields.get("benchmark")
        for name in texts if of is None else (of,):
            # Rows of a benchmark that is not evaluated are left out, as in files of other runs.
            if name in texts:
                try:
                    _add(texts[name], fields[key], fields["caption"])
                except InvalidInput as error:
                    raise row.error(error.field, error.message) from None
    return dict(texts)


def _texts(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for key, value in pairs:
        _add(texts, key, value)
    return texts


def _add(texts: dict[str, str], key: Any, value: Any) -> None:
    """Add a sample's caption, unless it is missing (None, NaN, NA)."""
    sample = str(key)
    if isinstance(value, str):
        if sample in texts:
            raise InvalidInput("it has two captions", field=sample)
        texts[sample] = str(value)
    elif not _is_missing(value):
        raise InvalidInput(f"expected a caption, found {value!r:.60}", field=sample)


def _is_missing(value: Any) -> bool:
    # NaN alone is unlike itself; pandas' NA cannot be compared.
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124
