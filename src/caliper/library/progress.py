"""Progress as plain text on standard error: one line that changes, or a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
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


class StatusLine:
    """A line on standard error that changes; where none can, a line now and then, and the last."""

    def __init__(self) -> None:
        # Notebooks let a line change like terminals do.
        self._changes = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._next = time.monotonic() + (0.0 if self._changes else _LOGGED)
        self._text: Callable[[], str] | None = None
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._text is not None:
            self._show(self._text())
        if self._changes:
            note("")

    def update(self, text: Callable[[], str]) -> None:
        """Show the text, if it is time to."""
        self._text = text
        if (now := time.monotonic()) >= self._next:
            self._next = now + (_CHANGING if self._changes else _LOGGED)
            self._show(text())

    def _show(self, line: str) -> None:
        if not self._changes:
            note(line)
            return
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)  # noqa: T201 - shown to people
        self._width = len(line)


class _StageProgress(_Warnings, ProgressCounter):
    """Shows how far each stage is."""

    def __init__(self, *, captioning: bool) -> None:
        super().__init__(captioning=captioning)
        self._line = StatusLine()
        self._counts: dict[str, list[int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.__exit__()

    def begin(self, stage: str, total: int) -> None:
        self._counts[stage] = [0, total]

    def advance(self, stage: str, count: int) -> None:
        self._counts[stage][0] += count
        self._line.update(self._text)

    def _text(self) -> str:
        return "; ".join(
            f"{stage} {done:,} of {total:,}" for stage, (done, total) in self._counts.items()
        )


def watch(config: RunConfig, setup: RunSetup, *, progress: bool) -> AbstractContextManager[Watcher]:
    """The watcher of a run; without `progress` it shows warnings only."""
    if not progress:
        return nullcontext(_Warnings())
    for gap in recipe_gaps(setup.spec, config.recipe) if config.recipe else ():
        note(f"Note: {gap}")
    for text in setup.notes:
        note(text)
    return _StageProgress(captioning=bool(setup.models.captioners))
