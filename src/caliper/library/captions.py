"""Captions from Python: mappings, data frames, tables and paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

from caliper.adapters.datasets.caption_rows import COLUMNS
from caliper.adapters.files import write_text
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest, text_digest
from caliper.local.caption_files import write_captions

Texts = Mapping[str, str]


class CaptionTable(Protocol):
    """A data frame of pandas or polars, or an Arrow table."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


def caption_places(captions: Any, names: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """The path of the captions of each benchmark of `names`. Captions in memory are written to a
    place of their own below `folder`.

    Raises InvalidInput for anything but captions, and if a benchmark has none.
    """
    if isinstance(captions, str | PathLike):
        return dict.fromkeys(names, Path(fspath(captions)))
    if isinstance(captions, Mapping):
        texts = _by_benchmark(captions, names)
        return {name: _save(name, texts[name], folder) for name in names}
    if getattr(captions, "columns", None) is not None:
        return dict.fromkeys(names, _save_table(captions, folder))
    raise InvalidInput(
        f"expected a mapping, a data frame, a path or a function, found {type(captions).__name__}",
        field="captions",
    )


def _save(name: str, texts: Texts, folder: Path) -> Path:
    if not texts:
        raise InvalidInput(f"no captions for {name}", field="captions")
    return write_captions(name, texts, folder / f"{name}-{digest(dict(texts))[:16]}")


def _save_table(frame: CaptionTable, folder: Path) -> Path:
    """Write the columns that may be read as JSON Lines."""
    names = getattr(frame, "column_names", None) or [str(name) for name in frame.columns]
    columns = [name for name in names if name in COLUMNS]
    if not columns:
        message = f"expected the columns sample and caption, found {', '.join(names)}"
        raise InvalidInput(message, field="captions")
    rows = zip(*(_list(frame[name]) for name in columns), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows)
    text = "".join(f"{line}\n" for line in lines)
    return write_text(folder / f"captions-{text_digest(text)[:16]}.jsonl", text)


def _list(column: Any) -> list[Any]:
    # By the method that each library has.
    for method in ("to_pylist", "to_list"):
        if hasattr(column, method):
            column = getattr(column, method)()
            break
    return [None if _is_missing(value) else value for value in column]


def _by_benchmark(captions: Mapping[Any, Any], names: tuple[str, ...]) -> dict[str, Texts]:
    if captions and all(isinstance(value, Mapping) for value in captions.values()):
        if unknown := [key for key in captions if key not in names]:
            raise InvalidInput(f"captions of {unknown[0]}, which is not evaluated")
        return {name: _texts(captions.get(name, {})) for name in names}
    return dict.fromkeys(names, _texts(captions))


def _texts(captions: Mapping[Any, Any]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for key, value in captions.items():
        sample = str(key)
        if sample in texts:
            raise InvalidInput("it has two captions", field=sample)
        if isinstance(value, str):
            texts[sample] = str(value)
        elif not _is_missing(value):
            raise InvalidInput(f"expected a caption, found {value!r:.60}", field=sample)
    return texts


def _is_missing(value: Any) -> bool:
    # NaN alone is unlike itself; pandas' NA cannot be compared.
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124
