"""Fetches the data that a command names, with progress bars on a terminal."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Self

from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from caliper.cli.console import ERR
from caliper.local.config import RunConfig
from caliper.local.data_fetch import fetch_data, fetch_path


def with_data(config: RunConfig, *, quiet: bool, media: bool = True) -> RunConfig:
    """The configuration with local copies of its data. Arguments and errors as of `fetch_data`."""
    with _TransferBar(quiet=quiet) as bar:
        return asyncio.run(fetch_data(config, bar, media=media))


def path_of_data(path: Path, *, quiet: bool) -> tuple[Path, str]:
    """The local copy of the data that a path names, and the pinned name. Raises as `fetch_path`."""
    with _TransferBar(quiet=quiet) as bar:
        return asyncio.run(fetch_path(path, bar))


class _TransferBar:
    """A FetchWatcher with one bar per dataset."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._tasks: dict[str, TaskID] = {}
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        off = quiet or not sys.stderr.isatty()
        self._bar = Progress(*columns, TimeRemainingColumn(), console=ERR, disable=off)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def on_pinned(self, name: str) -> None:
        if not self._quiet:
            ERR.print(escape(name), soft_wrap=True, highlight=False)

    def on_transfer(self, name: str, done: int, total: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(escape(name), total=total)
        self._bar.update(self._tasks[name], completed=done)
