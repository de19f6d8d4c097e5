"""Parquet tables with rows of several tasks, split into the official folder of JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from caliper.adapters.datasets import parquet
from caliper.adapters.files import encode_text, fill_folder
from caliper.core.errors import UnknownName


def has_tasks(file: Path) -> bool:
    """Whether a file is parquet whose rows name their task. Raises InvalidInput if it is
    unreadable: rows of it may be missing.
    """
    return file.suffix.lower() == ".parquet" and "task" in parquet.schema(file).names


def split_tables(files: Sequence[Path], tasks: Collection[str], folder: Path) -> Path:
    """Write `<task>.jsonl` files with the rows of parquet files below `folder`, and return it. If
    it exists, that was done before.

    Raises UnknownName for a row of another task, StoreFull or StoreUnavailable.
    """
    return fill_folder(folder, lambda part: _write(files, tasks, part))


def _write(files: Sequence[Path], tasks: Collection[str], folder: Path) -> None:
    opened: dict[str, BinaryIO] = {}
    with ExitStack() as stack:
        for file in files:
            for row in parquet.rows(file):
                task = row.text("task")
                if task not in tasks:
                    raise UnknownName("task", task, tuple(tasks), file=f"{row.file}:{row.line}")
                if task not in opened:
                    path = folder / f"{task}.jsonl"
                    opened[task] = stack.enter_context(path.open("wb"))
                # Other columns may hold times.
                line = json.dumps(row.fields, ensure_ascii=False, default=str)
                opened[task].write(encode_text(line) + b"\n")
