"""What the aggregator turns to, and the bounds it keeps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from caliper.core.envelopes import Record
from caliper.core.messages import RunEnded, Verdicts
from caliper.pipeline.live_scores import Before
from caliper.pipeline.tracked import TrackedRun


class Trouble(StrEnum):
    """What may be wrong with a message or with what is stored; it is counted and passed over."""

    UNDECODABLE = "undecodable"
    UNKNOWN_RUN = "unknown_run"
    FOREIGN_INDEX = "foreign_index"
    LOST = "lost"


class LedgerWatcher(Protocol):
    """Told what the ledgers of runs come to hold. Must be quick and must not raise."""

    def hold(self, run: TrackedRun) -> None:
        """A run was taken over from a snapshot."""
        ...

    def before(self, run: TrackedRun, message: Verdicts, record: Record) -> Before:
        """A message is about to be entered; what this returns is handed to `entered`."""
        ...

    def entered(self, run: TrackedRun, message: Verdicts, record: Record, before: Before) -> None:
        """The message was entered, and nothing else since `before`."""
        ...

    def forget(self, run: str) -> None:
        """A run is no longer held."""
        ...

    def snapshot_kept(self) -> None:
        """A snapshot was kept."""
        ...


class NobodyWatches:
    """A LedgerWatcher for aggregators without telemetry."""

    def hold(self, run: TrackedRun) -> None:
        """Tell nobody."""

    def before(self, run: TrackedRun, message: Verdicts, record: Record) -> Before:  # noqa: ARG002 - the protocol's
        """Nothing."""
        return {}

    def entered(self, run: TrackedRun, message: Verdicts, record: Record, before: Before) -> None:
        """Tell nobody."""

    def forget(self, run: str) -> None:
        """Tell nobody."""

    def snapshot_kept(self) -> None:
        """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where the aggregator turns to. `announce` publishes the end of a run; `warn` tells
    people and must neither wait nor raise; `watcher` follows the ledgers.
    """

    announce: Callable[[RunEnded], Awaitable[None]]
    warn: Callable[[Trouble, str], None]
    watcher: LedgerWatcher = field(default_factory=NobodyWatches)


@dataclass(frozen=True, slots=True)
class Bounds:
    """`pending` bytes of evidence wait in memory at most, over all runs, and as many `verdicts` of
    one run. `quiet` seconds
    without a message end a run that is cancelled or has failed: what was in flight is then
    in. A run that ended is forgotten after `idle` seconds; the store has it. One that is tried
    again ends after as many at the latest.
    """

    pending: int = 4 << 20
    verdicts: int = 1 << 20
    quiet: float = 5.0
    idle: float = 600.0
