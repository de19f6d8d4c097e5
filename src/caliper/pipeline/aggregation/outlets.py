"""The outlets of the aggregator, and its bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from caliper.core.messages import RunEnded
from caliper.pipeline.aggregation.message_checks import PlanCheck
from caliper.pipeline.aggregation.slots import Slot
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.work.authentic_stream import Signatures
from caliper.ports.telemetry import SILENT, Telemetry


class Trouble(StrEnum):
    """A fault in a message or in stored data. It is counted and skipped."""

    UNKNOWN_RUN = "unknown_run"
    REFUSED = "refused"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Outlets:
    """Outlets for the aggregator's results. `announce` publishes the end of a run, `warn` reports a
    fault and must neither block nor raise, `telemetry` records events, `live` has the live scores
    of all slots, and `advance` publishes the next questions of a run that ends once its answer is
    sure. `signatures` and `plans` check incoming messages. With `alone` there is one run, whose
    caller gets the error of a benchmark that fails.
    """

    announce: Callable[[RunEnded], Awaitable[None]]
    warn: Callable[[Trouble, str], None]
    telemetry: Telemetry = SILENT
    live: LiveTallies = field(default_factory=LiveTallies)
    advance: Callable[[RunLedger], Awaitable[None]] | None = None
    signatures: Signatures = field(default_factory=Signatures)
    plans: PlanCheck = field(default_factory=PlanCheck)
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of memory and time, and the runs that are aggregated: those in `slot`, or else all.

    At most `pending` bytes of evidence over all runs, and `verdicts` verdicts per run, wait in
    memory to be written.

    A cancelled, failed or healing run ends after `quiet` seconds without a message: messages in
    flight have arrived by then. An ended run is dropped from memory after `idle` seconds without
    one; the store has it. A run with retried questions waits for them equally long.
    """

    pending: int = 4 << 20
    verdicts: int = 1 << 20
    quiet: float = 5.0
    idle: float = 600.0
    slot: Slot | None = None
