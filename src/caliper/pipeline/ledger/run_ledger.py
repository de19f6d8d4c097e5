"""One run as the aggregator sees it: its ledger, its events, and how it was last reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.messages import EventKind, PlanMade, RunEvent, RunFailed, kind_of
from caliper.core.outcome import Verdict
from caliper.core.plan import PlanSummary
from caliper.core.question import Item
from caliper.core.report import Reuse
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.ledger.ledger import Ledger, OutcomeChange
from caliper.pipeline.ledger.verdict_log import StoreLog
from caliper.pipeline.store.plan import Captions, read_plan
from caliper.pipeline.store.runs import END, write_json
from caliper.ports.storage import ObjectStore

_ENDED_EARLY = {EventKind.CANCEL: RunState.CANCELLED, EventKind.FAIL: RunState.FAILED}
_FINISHED = (RunState.COMPLETE, RunState.FINISHED)
# Of events in the same millisecond, the later one in this order counts.
_ORDER = (EventKind.PLAN, EventKind.CANCEL, EventKind.FAIL)


@dataclass(slots=True)
class RunLedger:
    """The ledger of one run, with the run's events and end.

    `events` holds the time of the last event of each kind, in milliseconds since 1970. `active_at`
    is the monotonic time of the last message about the run. `start` is the number of the last
    start that was planned, `retries` the indices that are being retried since.

    `end_state` and `report` (SHA-256 of report.json) are as last written, `announced_end` is the
    pair of them as last published, `files` has the SHA-256 of every file of the report, and
    `reported_changes` the ledger's `changes` when they were written (-1: never). `ended_at` is when
    the run ended, in RFC 3339, and `reuse` the reuse in its report.
    """

    spec: RunSpec
    summary: PlanSummary
    store: ObjectStore
    log: StoreLog
    ledger: Ledger
    active_at: float
    events: dict[EventKind, int] = field(default_factory=dict)
    error: str = ""
    is_broken: bool = False
    end_state: RunState | None = None
    report: str = ""
    announced_end: tuple[str, str] | None = None
    reported_changes: int = -1
    start: int = 0
    retries: set[int] = field(default_factory=set)
    ended_at: str = ""
    reuse: Reuse | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def run(self) -> str:
        return self.summary.run

    def plan(self) -> AsyncIterator[list[Item]]:
        """The items in plan order, one shard at a time."""
        return read_plan(self.store, self.summary)

    async def load(self, *, heal: bool = False) -> None:
        """Enter all verdicts of the stored segments. Raises what `StoreLog.batches` raises."""
        await self._enter(self.log.batches(heal=heal))

    async def load_new(self) -> None:
        """Enter the verdicts that another process has stored since. Only for read-only ledgers.

        Raises what `load` raises.
        """
        await self._enter(self.log.read_new())

    async def _enter(self, batches: AsyncIterator[list[tuple[int, Verdict]]]) -> None:
        async for batch in batches:
            contested = self.ledger.contested(verdict for _, verdict in batch)
            self.ledger.enter(batch, await self.log.read_many(contested))
            # A long log takes seconds: let other tasks run in between.
            await asyncio.sleep(0)

    async def merge(self, verdicts: Sequence[Verdict]) -> list[OutcomeChange]:
        """Enter verdicts; the better of two about an index stands. Returns the changes.

        Must not be called concurrently. Raises InvalidInput for an index outside the plan,
        StoreUnavailable.
        """
        contested = self.ledger.contested(verdicts)
        standing = await self.log.read_many(contested) if contested else None
        return self.ledger.merge(verdicts, standing)

    def apply(self, event: RunEvent, timestamp: int) -> None:
        """Apply an event that was published at `timestamp`; the latest of each kind counts.

        A new plan revives a run that was cancelled or has failed.
        """
        kind = kind_of(event)
        if timestamp < self.events.get(kind, 0):
            return
        self.events[kind] = timestamp
        if isinstance(event, RunFailed):
            self.error = event.error
        elif isinstance(event, PlanMade):
            if self.is_new(event.start):
                self.retry(event.asked)
            self.start = max(self.start, event.start)
        if self._latest is EventKind.PLAN:
            self.error, self.is_broken = "", False
        else:
            self.retries = set()

    def is_new(self, start: int) -> bool:
        """Whether a start comes after the last one that is known."""
        return start > max(self.start, 1)

    def retry(self, limit: int | None) -> None:
        """Retry the indices below `limit` that are unscored for a retryable reason.

        This outdates the written and announced end, even if the next one turns out the same.
        """
        end = self.summary.questions if limit is None else limit
        self.retries = {index for index in self.ledger.retryable() if index < end}
        self.end_state = self.announced_end = None

    @property
    def _latest(self) -> EventKind:
        rank = {kind: place for place, kind in enumerate(_ORDER)}
        kinds = [kind for kind in self.events if kind in rank]
        return max(kinds, key=lambda kind: (self.events[kind], rank[kind]), default=EventKind.PLAN)

    @property
    def due_state(self) -> RunState | None:
        """How the run ends as far as is known; None while it goes on.

        FINISHED includes COMPLETE: only the report tells them apart.
        """
        if self.is_broken:
            return RunState.FAILED
        if self.ledger.finished and not self.retries:
            return RunState.FINISHED
        return _ENDED_EARLY.get(self._latest)

    @property
    def lacks_verdicts(self) -> bool:
        """Whether verdicts are missing that were there when the run ended."""
        return self.end_state in _FINISHED and not self.ledger.finished

    @property
    def state(self) -> RunState:
        """The current state of the run."""
        ending = self.due_state
        if ending is RunState.FINISHED:
            return self.end_state if self.end_is_current and self.end_state else RunState.RUNNING
        if ending is RunState.CANCELLED and self.end_state is not RunState.CANCELLED:
            return RunState.CANCELLING
        return ending or RunState.RUNNING

    @property
    def end_is_current(self) -> bool:
        """Whether the end that was written last is still how the run ends."""
        ended = RunState.FINISHED if self.end_state is RunState.COMPLETE else self.end_state
        return ended is not None and ended is self.due_state

    @property
    def is_due(self) -> bool:
        """Whether an end is still to be written or announced."""
        return self.due_state is not None and not (
            self.end_is_current
            and self.announced_end == (self.end_state, self.report)
            and (self.is_broken or self.reported_changes == self.ledger.changes)
        )

    def facts(self) -> dict[str, Any]:
        """Everything but ledger, spec and plan that must survive a restart, as JSON."""
        return {
            "events": {str(kind): when for kind, when in self.events.items()},
            "error": self.error,
            "broken": self.is_broken,
            "ended": self.end_state,
            "report": self.report,
            "announced": self.announced_end,
            "start": self.start,
            "tried": sorted(self.retries),
            "ended_at": self.ended_at,
            "reuse": None if self.reuse is None else asdict(self.reuse),
            "files": dict(self.files),
        }

    def restore(self, facts: Mapping[str, Any], file: str = "") -> None:
        """Restore the result of `facts`. Raises InvalidInput naming `file` for anything else."""
        try:
            self._recall(facts)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            message = f"these are no facts of run {self.run}: {error!r}"
            raise InvalidInput(message, file=file) from error

    def _recall(self, facts: Mapping[str, Any]) -> None:
        self.events = {EventKind(kind): int(when) for kind, when in facts["events"].items()}
        self.error, self.is_broken = str(facts["error"]), bool(facts["broken"])
        self.end_state = None if facts["ended"] is None else RunState(facts["ended"])
        self.report = str(facts["report"])
        # Earlier releases did not write these fields.
        self.start, self.retries = int(facts.get("start", 0)), set(map(int, facts.get("tried", ())))
        self.ended_at = str(facts.get("ended_at", ""))
        self.reuse = Reuse(**facts["reuse"]) if facts.get("reuse") else None
        self.files = dict(facts.get("files", {}))
        announced = facts["announced"]
        self.announced_end = None if announced is None else (str(announced[0]), str(announced[1]))

    async def write_end(self, result: tuple[RunState, str], outcomes: str, now: datetime) -> None:
        """Write to end.json how the run ended, with the digests of its report and of the ledger.

        The run counts as ended only after the write, so anyone notified finds the end in the
        store. Raises StoreUnavailable or StoreFull.
        """
        state, report = result
        if state is not self.end_state or not self.ended_at:
            self.ended_at = now.isoformat(timespec="seconds")
        end = {"ended": state, "report": report, "state": state, "outcomes": outcomes}
        await write_json(self.store, END, run=self.run, **(self.facts() | end))
        self.end_state, self.report = result


CaptionsOf = Callable[[RunLedger], Awaitable[Captions]]
"""Finds the captions of a run's planned samples."""
