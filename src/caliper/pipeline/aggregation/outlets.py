"""What the aggregator turns to, and the bounds it keeps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from caliper.core.messages import RunEnded
from caliper.pipeline.live.tallies import MOST_CHANGES
from caliper.ports.telemetry import SILENT, Telemetry


class Trouble(StrEnum):
    """What may be wrong with a message or with what is stored; it is counted and passed over."""

    UNDECODABLE = "undecodable"
    UNKNOWN_RUN = "unknown_run"
    FOREIGN_INDEX = "foreign_index"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where the aggregator turns to. `announce` publishes the end of a run; `warn` tells
    people and must neither wait nor raise; `telemetry` takes its events.
    """

    announce: Callable[[RunEnded], Awaitable[None]]
    warn: Callable[[Trouble, str], None]
    telemetry: Telemetry = SILENT


@dataclass(frozen=True, slots=True)
class Bounds:
    """`pending` bytes of evidence wait in memory at most, over all runs, and as many `verdicts` of
    one run; of one run, at most so many `changes` wait for somebody to look at its scores. `quiet`
    seconds without a message end a run that is cancelled or has failed: what was in flight is then
    in. A run that ended is forgotten after `idle` seconds; the store has it. One that is tried
    again ends after as many at the latest.
    """

    pending: int = 4 << 20
    verdicts: int = 1 << 20
    changes: int = MOST_CHANGES
    quiet: float = 5.0
    idle: float = 600.0
