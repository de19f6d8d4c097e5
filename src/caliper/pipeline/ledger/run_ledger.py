"""One run as the aggregator sees it: its ledger, its events, and its last report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.messages import EventKind, PlanMade, RunEvent, RunFailed, kind_of
from caliper.core.outcome import UNDRAWN, Verdict
from caliper.core.plan import PlanSummary
from caliper.core.question import Item
from caliper.core.report import Reuse
from caliper.core.run import REPORTED_STATES, WHOLE_STATES, RunSpec, RunState
from caliper.core.transitions import Cause, state_after
from caliper.pipeline.ledger.ledger import Ledger, OutcomeChange
from caliper.pipeline.ledger.verdict_log import StoreLog
from caliper.pipeline.store.plan import Captions, read_plan
from caliper.pipeline.store.runs import END, write_json
from caliper.ports.storage import ObjectStore


@dataclass(slots=True, eq=False, weakref_slot=True)
class RunLedger:
    """The ledger of one run, with the run's events and end.

    `events` holds the time of the last event of each kind, in milliseconds since 1970, by the clock
    of its publisher. `active_at` is the monotonic time of the last message about the run. `start`
    is the number of the last planned start, `cancelled` and `failed` of the last one that was
    cancelled or has failed (0: none), `retries` the indices being retried since. A run that `heals`
    was reopened for the jobs of a new start to restore what it lost. `shards` counts those of the
    last start's job queue, and `jobs_left` says whether jobs may be left in it. `block` counts the
    queues that the holder of the run wrote, one after the other, for blocks that it drew.

    `end_state` and `report` (SHA-256 of report.json) are as last written, `announced_end` is the
    pair of them as last published, `files` has the SHA-256 of every file of the report, and
    `reported_changes` the ledger's `changes` when they were written (-1: never). `ended_at` is the
    end time in RFC 3339, and `reuse` the reuse in its report. `team` is the first owner's, empty
    without teams.
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
    heals: bool = False
    shards: int = 0
    jobs_left: bool = False
    block: int = 0
    end_state: RunState | None = None
    report: str = ""
    announced_end: tuple[str, str] | None = None
    reported_changes: int = -1
    start: int = 0
    cancelled: int = 0
    failed: int = 0
    retries: set[int] = field(default_factory=set)
    ended_at: str = ""
    team: str = ""
    reuse: Reuse | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def run(self) -> str:
        return self.summary.run

    def plan(self) -> AsyncIterator[list[Item]]:
        """The items in plan order, one shard at a time."""
        return read_plan(self.store, self.summary)

    async def load(self, batches: AsyncIterator[list[tuple[int, Verdict]]]) -> None:
        """Enter verdicts of the log, which come with their places. Raises what reading raises."""
        async for batch in batches:
            contested = self.ledger.contested(verdict for _, verdict in batch)
            self.ledger.enter(batch, await self.log.read_many(contested))
            # A long log takes seconds: let other tasks run.
            await asyncio.sleep(0)

    async def merge(self, verdicts: Sequence[Verdict]) -> list[OutcomeChange]:
        """Enter verdicts; the better of two about an index stands. Returns the changes.

        Must not be called concurrently. Raises InvalidInput for an index outside the plan,
        StoreUnavailable.
        """
        if self.spec.judging:
            # A job covers some questions of its sample: others may be drawn later.
            verdicts = [each for each in verdicts if each.outcome != UNDRAWN]
        contested = self.ledger.contested(verdicts)
        standing = await self.log.read_many(contested) if contested else None
        return self.ledger.merge(verdicts, standing)

    def queue_block(self, shards: int) -> None:
        """Note that the job queue was rewritten, with the jobs of one more block."""
        self.shards, self.jobs_left = shards, True
        self.block += 1

    def decide(self) -> None:
        """The answer is sure: mark open questions as not drawn. Raises StoreUnavailable."""
        unknown = (i for i in range(self.summary.questions) if self.ledger.lacks(range(i, i + 1)))
        self.ledger.merge([Verdict(index, UNDRAWN) for index in unknown])
        self.retries.clear()

    def apply(self, event: RunEvent, timestamp: int) -> None:
        """Apply an event that was published at `timestamp`.

        Only the numbers of starts order events, as the clocks of publishers differ. The plan of a
        later start revives a run that was cancelled or has failed.
        """
        kind = kind_of(event)
        self.events[kind] = max(timestamp, self.events.get(kind, 0))
        if isinstance(event, RunFailed):
            start = event.start or self.current_start
            if start >= max(self.failed, self.current_start):
                self.failed, self.error = start, event.error
        elif isinstance(event, PlanMade):
            if self.is_new(event.start):
                self.retry(event.asked)
                # Not by the plan of the failed start, which may come twice.
                self.is_broken = False
            if event.start > self.start or (event.start == self.start and not self.spec.judging):
                self.start, self.shards = event.start, event.shards
                self.jobs_left = event.shards > 0
            if self._early_end is None and not self.is_broken:
                self.error = ""
        self._forget_retries()

    def cancel(self, start: int) -> None:
        """The store says that this start is cancelled."""
        self.cancelled = max(self.cancelled, start)
        self._forget_retries()

    def _forget_retries(self) -> None:
        if self._early_end is not None:
            self.retries = set()

    def is_new(self, start: int) -> bool:
        """Whether a start comes after the last known one."""
        return start > self.current_start

    def retry(self, limit: int | None) -> None:
        """Retry the indices below `limit` that are unscored for a retryable reason.

        This outdates the written and announced end, even if the next one turns out the same.
        """
        end = self.summary.questions if limit is None else limit
        self.retries = {index for index in self.ledger.retryable() if index < end}
        if self.retries and self.spec.judging:
            # Other scores may ask for other blocks.
            self.retries |= self.ledger.undrawn()
        self.end_state = self.announced_end = None

    @property
    def current_start(self) -> int:
        """The number of the last start that was planned; 1 if it is unknown."""
        return max(self.start, 1)

    @property
    def _early_end(self) -> RunState | None:
        if self.cancelled >= self.current_start:
            return RunState.CANCELLED
        return RunState.FAILED if self.failed >= self.current_start else None

    @property
    def due_state(self) -> RunState | None:
        """The end of the run as known so far; None while it goes on.

        FINISHED includes COMPLETE and DECIDED: only the report distinguishes them.
        """
        if self.is_broken:
            return RunState.FAILED
        if self.ledger.finished and not self.retries:
            return RunState.FINISHED
        return self._early_end

    @property
    def lacks_verdicts(self) -> bool:
        """Whether verdicts are missing that existed when the run ended."""
        return self.end_state in REPORTED_STATES and not self.ledger.finished

    @property
    def state(self) -> RunState:
        """The current state of the run: its end only once written."""
        if self.end_is_current and self.end_state is not None:
            return self.end_state
        if self.due_state is RunState.CANCELLED:
            return state_after(RunState.RUNNING, Cause.CANCELLATION)
        return RunState.RUNNING

    @property
    def end_is_current(self) -> bool:
        """Whether the end written last is still current."""
        ended = RunState.FINISHED if self.end_state in WHOLE_STATES else self.end_state
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
        """The state, besides ledger, spec and plan, that must survive a restart, as JSON."""
        return {
            "events": {str(kind): when for kind, when in self.events.items()},
            "error": self.error,
            "broken": self.is_broken,
            "ended": self.end_state,
            "report": self.report,
            "announced": self.announced_end,
            "start": self.start,
            # The next holder of the run queues blocks again.
            "shards": 0 if self.spec.judging else self.shards,
            "heals": self.heals,
            "cancelled": self.cancelled,
            "failed": self.failed,
            "tried": sorted(self.retries),
            "ended_at": self.ended_at,
            "reuse": None if self.reuse is None else asdict(self.reuse),
            "files": dict(self.files),
            "segment_digests": {str(place): each for place, each in self.log.digests.items()},
        }

    def restore(self, facts: Mapping[str, Any], file: str = "") -> None:
        """Restore the result of `facts`. Raises InvalidInput naming `file` for anything else."""
        try:
            self._recall(facts)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            message = f"not the facts of run {self.run}: {error!r}"
            raise InvalidInput(message, file=file) from error

    def _recall(self, facts: Mapping[str, Any]) -> None:
        # First: a run in one process that goes on has no other facts of its end.
        digests = facts.get("segment_digests", {}).items()
        self.log.digests.update({int(number): str(digest) for number, digest in digests})
        self.events = {EventKind(kind): int(when) for kind, when in facts["events"].items()}
        self.error, self.is_broken = str(facts["error"]), bool(facts["broken"])
        self.end_state = None if facts["ended"] is None else RunState(facts["ended"])
        self.report = str(facts["report"])
        self.start, self.retries = int(facts["start"]), set(map(int, facts["tried"]))
        self.ended_at, announced = str(facts["ended_at"]), facts["announced"]
        self.reuse = Reuse(**facts["reuse"]) if facts["reuse"] else None
        self.announced_end = None if announced is None else (str(announced[0]), str(announced[1]))
        # The runs in tests/kept lack the fields from here on.
        self.heals, self.shards = bool(facts.get("heals")), int(facts.get("shards") or 0)
        self.jobs_left = self.shards != 0
        self.cancelled, self.failed = int(facts.get("cancelled", 0)), int(facts.get("failed", 0))
        self.files = dict(facts.get("files", {}))

    async def write_end(self, result: tuple[RunState, str], outcomes: str, now: datetime) -> None:
        """Write the end of the run to end.json, with the digests of its report and of the ledger.

        The run counts as ended only after the write, so anyone notified finds the end in the
        store. Raises StoreUnavailable or StoreFull.
        """
        await self.log.note_digests()
        state, report = result
        if state is not self.end_state or not self.ended_at:
            self.ended_at = now.isoformat(timespec="seconds")
        end = {"ended": state, "report": report, "state": state, "outcomes": outcomes}
        segments = self.log.stored
        await write_json(self.store, END, run=self.run, segments=segments, **(self.facts() | end))
        self.end_state, self.report = result


CaptionsOf = Callable[[RunLedger], Awaitable[Captions]]
"""Finds the captions of a run's planned samples."""
