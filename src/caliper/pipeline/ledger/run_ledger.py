"""One run as the aggregator holds it: its ledger, and what was heard about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from caliper.core.errors import InvalidInput, NotReady
from caliper.core.messages import EventKind, PlanMade, RunEvent, RunFailed, kind_of
from caliper.core.outcome import Verdict
from caliper.core.plan import PlanSummary
from caliper.core.question import Item
from caliper.core.report import Reuse
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.ledger.ledger import Columns, Ledger, OutcomeChange
from caliper.pipeline.ledger.verdict_log import SegmentCache, StoreLog
from caliper.pipeline.store.plan import Captions, read_plan, read_summary
from caliper.pipeline.store.runs import END, SPEC, read_json, run_store, write_json
from caliper.ports.storage import ObjectStore

_ENDED_EARLY = {EventKind.CANCEL: RunState.CANCELLED, EventKind.FAIL: RunState.FAILED}
# What counts of events in the same millisecond: the later one here.
_ORDER = (EventKind.PLAN, EventKind.CANCEL, EventKind.FAIL)


@dataclass(slots=True)
class RunLedger:
    """`events` holds when each kind was last heard, in milliseconds since 1970.

    `ended` and `report` (SHA-256 of report.json) are what was written last, `announced`
    what of that was published last, `reported` the ledger's changes at that time (-1: none).
    `ended_at` is when it came to be `ended` so, RFC 3339, and `reuse` what its report told of
    that. `touched` is the monotonic time of the last message about the run, `start` the last start
    of it whose plan was heard of, `tried` what is being tried again since.
    """

    spec: RunSpec
    summary: PlanSummary
    store: ObjectStore
    log: StoreLog
    ledger: Ledger
    touched: float
    events: dict[EventKind, int] = field(default_factory=dict)
    error: str = ""
    broken: bool = False
    ended: RunState | None = None
    report: str = ""
    announced: tuple[str, str] | None = None
    reported: int = -1
    start: int = 0
    tried: set[int] = field(default_factory=set)
    ended_at: str = ""
    reuse: Reuse | None = None

    @property
    def run(self) -> str:
        return self.summary.run

    def plan(self) -> AsyncIterator[list[Item]]:
        """The items in plan order, a shard at a time."""
        return read_plan(self.store, self.summary)

    async def load(self) -> None:
        """Enter all that its segments hold. Raises InvalidInput when that cannot be read,
        StoreUnavailable.
        """
        await self._enter(self.log.batches())

    async def load_later(self) -> None:
        """Enter what somebody else has written since: for a run that is only looked at. Raises
        as `load` does.
        """
        await self._enter(self.log.later())

    async def _enter(self, batches: AsyncIterator[list[tuple[int, Verdict]]]) -> None:
        async for batch in batches:
            contested = self.ledger.contested(verdict for _, verdict in batch)
            self.ledger.enter(batch, await self.log.read_many(contested))
            # A long log takes its time, and others are waiting.
            await asyncio.sleep(0)

    async def merge(self, verdicts: Sequence[Verdict]) -> list[OutcomeChange]:
        """Enter verdicts, and keep the better one where there was one already. Returns what
        changed. For one caller at a time. Raises InvalidInput for an index that is not of this
        plan, StoreUnavailable.
        """
        contested = self.ledger.contested(verdicts)
        standing = await self.log.read_many(contested) if contested else None
        return self.ledger.merge(verdicts, standing)

    def hear(self, event: RunEvent, timestamp: int) -> None:
        """Take note of an event that was published at `timestamp`; of a kind the latest counts.

        Being planned again revives a run that was cancelled or has failed.
        """
        kind = kind_of(event)
        if timestamp < self.events.get(kind, 0):
            return
        self.events[kind] = timestamp
        if isinstance(event, RunFailed):
            self.error = event.error
        elif isinstance(event, PlanMade):
            if event.start > max(self.start, 1):
                self.try_again(event.asked)
            self.start = max(self.start, event.start)
        if self._latest is EventKind.PLAN:
            self.error, self.broken = "", False
        else:
            self.tried = set()

    def try_again(self, asked: int | None) -> None:
        """What may have passed is asked for again, but for indices from `asked` on. What was
        written and announced is out of date, even where it will be the same again.
        """
        most = self.summary.questions if asked is None else asked
        self.tried = {index for index in self.ledger.passing() if index < most}
        self.ended = self.announced = None

    @property
    def _latest(self) -> EventKind:
        rank = {kind: place for place, kind in enumerate(_ORDER)}
        heard = [kind for kind in self.events if kind in rank]
        return max(heard, key=lambda kind: (self.events[kind], rank[kind]), default=EventKind.PLAN)

    @property
    def ending(self) -> RunState | None:
        """How the run ends by what is known now; None while it goes on. FINISHED stands for
        COMPLETE too: which of them it is, the report says.
        """
        if self.broken:
            return RunState.FAILED
        if self.ledger.finished and not self.tried:
            return RunState.FINISHED
        return _ENDED_EARLY.get(self._latest)

    @property
    def state(self) -> RunState:
        """Where the run stands."""
        ending = self.ending
        if ending is RunState.FINISHED:
            return self.ended if self.settled and self.ended else RunState.RUNNING
        if ending is RunState.CANCELLED and self.ended is not RunState.CANCELLED:
            return RunState.CANCELLING
        return ending or RunState.RUNNING

    @property
    def settled(self) -> bool:
        """Whether what was written last says how the run ends."""
        written = RunState.FINISHED if self.ended is RunState.COMPLETE else self.ended
        return written is not None and written is self.ending

    @property
    def due(self) -> bool:
        """Whether there is something to write or to announce that was not yet."""
        return self.ending is not None and not (
            self.settled
            and self.announced == (self.ended, self.report)
            and (self.broken or self.reported == self.ledger.changes)
        )

    def facts(self) -> dict[str, Any]:
        """What is kept of it beside ledger, spec and plan, as JSON."""
        return {
            "events": {str(kind): when for kind, when in self.events.items()},
            "error": self.error,
            "broken": self.broken,
            "ended": self.ended,
            "report": self.report,
            "announced": self.announced,
            "start": self.start,
            "tried": sorted(self.tried),
            "ended_at": self.ended_at,
            "reuse": None if self.reuse is None else asdict(self.reuse),
        }

    def recall(self, facts: dict[str, Any], file: str = "") -> None:
        """Take over what `facts` gave. Raises InvalidInput naming `file` for others."""
        try:
            self._recall(facts)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            message = f"these are no facts of run {self.run}: {error!r}"
            raise InvalidInput(message, file=file) from error

    def _recall(self, facts: dict[str, Any]) -> None:
        self.events = {EventKind(kind): int(when) for kind, when in facts["events"].items()}
        self.error, self.broken = str(facts["error"]), bool(facts["broken"])
        self.ended = None if facts["ended"] is None else RunState(facts["ended"])
        self.report = str(facts["report"])
        # A release before did not count them.
        self.start, self.tried = int(facts.get("start", 0)), set(map(int, facts.get("tried", ())))
        self.ended_at = str(facts.get("ended_at", ""))
        self.reuse = Reuse(**facts["reuse"]) if facts.get("reuse") else None
        announced = facts["announced"]
        self.announced = None if announced is None else (str(announced[0]), str(announced[1]))

    async def write_end(self, ended: tuple[RunState, str], outcomes: str, now: datetime) -> None:
        """Keep in end.json how the run ended, with the digest of its report and of the ledger
        that the report tells. Only then it counts as ended: who hears of it finds it there.

        Raises StoreUnavailable or StoreFull.
        """
        state, report = ended
        if state is not self.ended or not self.ended_at:
            self.ended_at = now.isoformat(timespec="seconds")
        told = {"ended": state, "report": report, "state": state, "outcomes": outcomes}
        await write_json(self.store, END, run=self.run, **(self.facts() | told))
        self.ended, self.report = ended


class Runs:
    """Opens runs from the store, where `runs/<id>/` holds what there is of each."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._cache = SegmentCache(store)

    async def planning(self, run: str) -> bool:
        """Whether the run is stored and has no plan yet. Raises StoreUnavailable."""
        store = run_store(self._store, run)
        return await store.get(SPEC) is not None and await read_summary(store) is None

    async def restore(self, run: str, columns: Columns, now: float) -> RunLedger:
        """The run with a ledger that a snapshot kept.

        Raises InvalidInput when the store has it no longer, or with another plan.
        """
        found = await self._bare(run, columns, now)
        if found is None or len(columns.states) != found.summary.questions:
            raise InvalidInput(f"the ledger of {run} is not that of its plan")
        return found

    async def open(self, run: str, now: float) -> RunLedger | None:
        """The run with all that its segments hold; None when it is not stored and planned.

        Raises InvalidInput when what is stored cannot be read, StoreUnavailable.
        """
        found = await self._bare(run, None, now)
        if found is None:
            return None
        await found.load()
        await _recall_end(found)
        return found

    async def refresh(self, run: RunLedger) -> None:
        """Enter what the store has come to hold since the run was opened: for one that is only
        looked at. Raises as `open` does.
        """
        await run.load_later()
        await _recall_end(run)

    async def _bare(self, run: str, columns: Columns | None, now: float) -> RunLedger | None:
        store = run_store(self._store, run)
        written = await read_json(store, SPEC)
        summary = None if written is None else await read_summary(store)
        if written is None or summary is None:
            return None
        spec = RunSpec.from_json(written, file=SPEC)
        log = await StoreLog.open(self._store, f"runs/{run}/verdicts", self._cache)
        return RunLedger(spec, summary, store, log, Ledger(summary.questions, log, columns), now)


async def _recall_end(found: RunLedger) -> None:
    """Take over what end.json holds, if there is one."""
    end = await read_json(found.store, END)
    if end is not None:
        found.recall(end, END)
        if end.get("outcomes") == found.ledger.digest():
            found.reported = found.ledger.changes


CaptionsOf = Callable[[RunLedger], Awaitable[Captions]]
"""Finds the captions of a run's planned samples."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run to be opened: its spec, the store that holds it, and what finds its captions."""

    spec: RunSpec
    store: ObjectStore
    captions: CaptionsOf

    async def open(self) -> RunLedger:
        """The run with all that the store holds of it. Raises NotReady before its plan, and as
        `Runs.open` does.
        """
        found = await Runs(self.store).open(self.spec.run_id, 0.0)
        if found is None:
            message = f"run {self.spec.run_id} ({self.spec.name}) has no complete plan"
            raise NotReady(message)
        return found
