"""Writes captions as files in a benchmark's layout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from caliper.adapters.files import write_text
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat


def write_captions(name: str, texts: Mapping[str, str], place: Path) -> Path:
    """Write captions in a benchmark's layout, at `place` or with a suffix.

    Raises InvalidInput if captions in this layout cannot be written, and StoreUnavailable.
    """
    layout = benchmark(name).captions.format
    if layout is FileFormat.OBJECT:
        file = place.with_suffix(".json")
        file.parent.mkdir(parents=True, exist_ok=True)
        return write_text(file, json.dumps(dict(texts), sort_keys=True))
    if layout is not FileFormat.JSONL_FOLDER:
        raise InvalidInput("its captions cannot be written", field=name)
    place.mkdir(parents=True, exist_ok=True)
    by_stem: dict[str, list[str]] = {}
    for sample, text in texts.items():
        stem, _, key = sample.partition("/")
        by_stem.setdefault(stem, []).append(json.dumps({"file_id": key, "caption": text}))
    for stem, lines in by_stem.items():
        write_text(place / f"{stem}.jsonl", "\n".join([*sorted(lines), ""]))
    return place
