"""The file in which supplied captions are stored: gzipped JSON lines, one per sample."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from caliper.core.caption import Caption, CutShort
from caliper.core.keys import canonical_json
from caliper.pipeline.store.disk_spill import SpilledTexts


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


def read_archive(archive: Path) -> SpilledTexts:
    """Read captions by sample. Raises OSError, EOFError, ValueError, KeyError, TypeError or
    AttributeError for a file that holds something else.
    """
    with gzip.open(archive) as lines:
        rows: Iterable[dict[str, Any]] = map(json.loads, lines)
        found = (Caption(row["sample"], row["caption"], bool(row.get("truncated"))) for row in rows)
        return SpilledTexts((each.sample, each.plain) for each in found)
