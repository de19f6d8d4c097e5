"""A dataset in parts, each a folder with media of its own, joined into one folder of tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from caliper.adapters.datasets.pictures import NAMES, renamed
from caliper.adapters.files import encode_text, fill_folder
from caliper.core.rows import Row


def join_parts(parts: Mapping[str, Iterable[Row]], folder: Path) -> Path:
    """Write the rows of each part, named by its folder, as JSON Lines below `folder`, and return
    it. Names of pictures begin with the part. If the folder exists, that was done before.

    Raises StoreFull or StoreUnavailable.
    """
    return fill_folder(folder, lambda place: _write(parts, place))


def _write(parts: Mapping[str, Iterable[Row]], folder: Path) -> None:
    for part, rows in parts.items():
        # Appended, because another part may be "a/b-c" where this one is "a-b/c".
        with (folder / f"{part.replace('/', '-')}.jsonl").open("ab") as file:
            for row in rows:
                fields = renamed(row.fields, (*NAMES, "images", "image"), f"{part}/")
                line = json.dumps(fields, ensure_ascii=False, default=str)
                file.write(encode_text(line) + b"\n")
