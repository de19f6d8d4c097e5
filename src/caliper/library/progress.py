"""Progress as plain text on standard error: one line that changes, or a line now and then."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Self

from caliper.adapters import phrases
from caliper.local.config import RunConfig
from caliper.local.recipes import recipe_gaps
from caliper.local.run import RunResult
from caliper.local.setup import RunSetup
from caliper.local.watchers import ProgressCounter, SilentWatcher
from caliper.ports.watcher import Watcher

_CHANGING, _LOGGED = 0.3, 30.0
"""Seconds between two updates: where a line can change, and elsewhere."""


def note(text: str) -> None:
    """Write a line to standard error."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - shown to people


def note_reuse(result: RunResult) -> None:
    """Report replies reused from earlier runs, if any: another model may have had the same name."""
    if text := phrases.reuse(result.report.reuse):
        note(text)
    if result.ended_at is not None:
        note(phrases.already_ended(result.report.state, result.ended_at))


class FetchNotes:
    """A FetchWatcher that writes lines now and then."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _CHANGING

    def on_pinned(self, name: str) -> None:
        note(name)

    def on_transfer(self, name: str, done: int, total: int) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + _LOGGED
            note(f"{name}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")


class _Warnings(SilentWatcher):
    def on_warning(self, text: str) -> None:
        note(f"Warning: {text}")


class _ProgressLine(_Warnings, ProgressCounter):
    """Shows how far each stage is."""

    def __init__(self, *, captioning: bool) -> None:
        super().__init__(captioning=captioning)
        # Notebooks let a line change like terminals do.
        self._changes = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._counts: dict[str, list[int]] = {}
        self._next = time.monotonic() + (0.0 if self._changes else _LOGGED)
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._counts:
            self._show()
        if self._changes:
            note("")

    def begin(self, stage: str, total: int) -> None:
        self._counts[stage] = [0, total]

    def advance(self, stage: str, count: int) -> None:
        self._counts[stage][0] += count
        if (now := time.monotonic()) >= self._next:
            self._next = now + (_CHANGING if self._changes else _LOGGED)
            self._show()

    def _show(self) -> None:
        line = "; ".join(
            f"{stage} {done:,} of {total:,}" for stage, (done, total) in self._counts.items()
        )
        if not self._changes:
            note(line)
            return
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)  # noqa: T201 - shown to people
        self._width = len(line)


def watch(config: RunConfig, setup: RunSetup, *, progress: bool) -> AbstractContextManager[Watcher]:
    """The watcher of a run; without `progress` it shows warnings only."""
    if not progress:
        return nullcontext(_Warnings())
    for gap in recipe_gaps(setup.spec, config.recipe) if config.recipe else ():
        note(f"Note: {gap}")
    for text in setup.notes:
        note(text)
    return _ProgressLine(captioning=bool(setup.models.captioners))
