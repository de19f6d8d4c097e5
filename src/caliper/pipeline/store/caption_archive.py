"""The file in which supplied captions are stored: gzipped JSON lines, one per sample."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from caliper.core.caption import Caption, CutShort
from caliper.core.keys import canonical_json
from caliper.pipeline.store.decompression import MOST_UNPACKED
from caliper.pipeline.store.disk_spill import SpilledTexts

UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
_MOST_BYTES = 4 << 30
"""The most bytes of all lines: eight times those of an upload."""


def write_archive(captions: Mapping[str, str], archive: Path) -> str:
    """Write captions as gzipped JSON lines, one in memory at a time, and return their digest."""
    with archive.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as lines:
        for sample, text in captions.items():
            flags = {"truncated": True} if isinstance(text, CutShort) else {}
            lines.write(canonical_json({"sample": sample, "caption": text, **flags}) + b"\n")
    if isinstance(captions, SpilledTexts):
        return _digest(captions.by_name())
    return _digest(sorted(captions.items()))


def _digest(captions: Iterable[tuple[str, str]]) -> str:
    """`keys.digest` of sorted captions as one object, computed caption by caption.

    A single call for all of them would hold the GIL and stop the other threads.
    """
    state = hashlib.sha256(b"{")
    for place, (sample, text) in enumerate(captions):
        state.update(b"," if place else b"")
        state.update(canonical_json(sample) + b":" + canonical_json(text))
        if isinstance(text, CutShort):
            state.update(b"!")
    state.update(b"}")
    return state.hexdigest()


def read_archive(
    archive: Path, line: int = MOST_UNPACKED, most: int = _MOST_BYTES
) -> tuple[SpilledTexts, str]:
    """Read captions by sample, and their digest. Raises one of UNREADABLE for a file that is
    something else, has a longer line than `line` bytes, or more bytes in all than `most`.
    """
    with gzip.open(archive) as lines:
        rows: Iterable[dict[str, Any]] = map(json.loads, _bounded(lines, line, most))
        supplied = (
            Caption(row["sample"], row["caption"], bool(row.get("truncated"))) for row in rows
        )
        captions = SpilledTexts((each.sample, each.plain) for each in supplied)
    return captions, _digest(captions.by_name())


def _bounded(file: gzip.GzipFile, line: int, most: int) -> Iterator[bytes]:
    size = 0
    while text := _line(file, line + 1):
        size += len(text)
        if len(text) > line or size > most:
            raise ValueError(f"it unpacks to a line of over {line} bytes, or over {most} in all")
        yield text


def _line(file: gzip.GzipFile, most: int) -> bytes:
    try:
        return file.readline(most)
    except zlib.error as error:
        raise ValueError(str(error)) from error
