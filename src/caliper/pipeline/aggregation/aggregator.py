"""Aggregates many runs: reads verdicts from a log, and publishes scores and ends of runs.

One aggregator leads (see `lease`). Its snapshots contain offsets and ledgers, so that the next one
resumes from there. Later records are read again; applying a record twice changes nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial

from cachetools import LRUCache

from caliper.core.envelopes import Record
from caliper.core.errors import InvalidInput
from caliper.core.messages import RunEnded, Verdicts
from caliper.core.run import RunState
from caliper.pipeline.aggregation.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.ledger.offsets import LogOffsets, format_position
from caliper.pipeline.ledger.run_ledger import RunLedger, Runs
from caliper.pipeline.ledger.snapshots import RunSnapshot, Snapshot, encode, newest, save
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.pipeline.reports.rolling_scores import RollingScores, changes_of
from caliper.pipeline.store.runs import is_run_id
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import SnapshotKept

_UNKNOWN_RUNS = 1024
_ANNOUNCED_RUNS = 4096


class Aggregator:
    """Holds the ledgers of running runs.

    `apply` takes records in any order and any number of times. Methods may be called from
    several tasks of one event loop.
    """

    def __init__(
        self,
        store: ObjectStore,
        codec: Codec,
        clock: Clock,
        files: ReportFiles,
        outlets: Outlets,
        bounds: Bounds | None = None,
    ) -> None:
        self._store, self._codec, self._clock = store, codec, clock
        self._files, self._outlets = files, outlets
        self._bounds = bounds or Bounds()
        self.live = LiveTallies(self._bounds.changes)
        self._opener = Runs(store)
        self._runs: dict[str, RunLedger] = {}
        self._unknown: LRUCache[str, None] = LRUCache(_UNKNOWN_RUNS)
        self._announced: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._rolling = RollingScores(clock, self.live)
        self._lock = asyncio.Lock()
        self._number, self.places = 0, LogOffsets()
        self.leads = True
        self.troubles: Counter[Trouble] = Counter()

    async def resume(self) -> None:
        """Resume from the newest intact snapshot, or without one from the first retained record.
        Raises StoreUnavailable.
        """
        # Requests for scores may already have opened runs, without their events: these are dropped.
        async with self._lock:
            self._forget()
            await self._restore()
            self.leads = True

    async def stand_by(self) -> None:
        """Forget all runs and stop leading: `scores` then reads them from the store each time."""
        async with self._lock:
            self._forget()
            self.leads = False

    def _forget(self) -> None:
        for name in list(self._runs):
            self._drop(name)
        self._announced.clear()
        self._unknown.clear()
        self._number, self.places = 0, LogOffsets()

    async def _restore(self) -> None:
        snapshot, errors = await newest(self._store)
        for error in errors:
            self._trouble(Trouble.LOST, str(error))
        if snapshot is None:
            return
        self._number = snapshot.number + 1
        self.places = snapshot.offsets
        self._announced = OrderedDict(snapshot.announced_ends)
        for run, saved in snapshot.runs.items():
            try:
                run_ledger = await self._opener.restore(run, saved.columns, self._clock.monotonic())
                run_ledger.restore(saved.facts)
            except InvalidInput as error:
                self._trouble(Trouble.LOST, str(error))
                continue
            run_ledger.reported_changes = run_ledger.ledger.changes if saved.current else -1
            self._runs[run] = run_ledger
            self.live.on_restore(run_ledger)

    async def begin(self, topic: str, log: str, ends: Mapping[int, int]) -> None:
        """Prepare for reading a topic; see `LogOffsets.begin`."""
        async with self._lock:
            if self.places.begin(topic, log, ends):
                self._trouble(Trouble.LOST, f"{topic} is not as it was: all of it is read again")

    async def apply(self, records: Sequence[Record]) -> None:
        """Apply records of the topics of verdicts and runs.

        Raises StoreUnavailable or StoreFull; the same records may then be applied again.
        """
        async with self._lock:
            for record in records:
                if record.message.topic == VERDICTS:
                    await self._verdicts(record)
                elif record.message.topic == RUNS:
                    await self._event(record)
                self.places.advance(record)
                await self._make_room()

    async def _verdicts(self, record: Record) -> None:
        try:
            message = self._codec.read_verdicts(record.message.value)
        except InvalidInput as error:
            self._trouble(Trouble.UNDECODABLE, f"{format_position(record)}: {error}")
            return
        run = await self.find(message.run)
        if run is None:
            self._trouble(
                Trouble.UNKNOWN_RUN, f"{format_position(record)}: run {message.run!r:.40}"
            )
            return
        await self._merge(run, message, record)

    async def _merge(self, run: RunLedger, message: Verdicts, record: Record) -> None:
        run.opened_at = self._clock.monotonic()
        try:
            changes = await run.merge(message.verdicts)
            self.live.on_changes(run, message, record, changes)
            run.retries.difference_update(verdict.index for verdict in message.verdicts)
        except InvalidInput as error:
            kind = Trouble.FOREIGN_INDEX if error.field == "index" else Trouble.LOST
            self._trouble(kind, f"{format_position(record)}: {error}")

    async def _event(self, record: Record) -> None:
        try:
            event = self._codec.read_run_event(record.message.value)
        except InvalidInput as error:
            self._trouble(Trouble.UNDECODABLE, f"{format_position(record)}: {error}")
            return
        if isinstance(event, RunEnded):
            self._note_end(event)
            return
        self._unknown.pop(event.run, None)
        run = await self.find(event.run)
        if run is not None:
            run.opened_at = self._clock.monotonic()
            run.apply(event, record.timestamp)
        elif not (is_run_id(event.run) and await self._opener.planning(event.run)):
            self._trouble(Trouble.UNKNOWN_RUN, f"{format_position(record)}: run {event.run!r:.40}")

    def _note_end(self, event: RunEnded) -> None:
        """Note an announced end, by this aggregator or its predecessor."""
        announcement = (event.state, event.report)
        self._announced[event.run] = announcement
        self._announced.move_to_end(event.run)
        if len(self._announced) > _ANNOUNCED_RUNS:
            self._announced.popitem(last=False)
        if event.run in self._runs:
            self._runs[event.run].announced_end = announcement

    async def find(self, run: str) -> RunLedger | None:
        """The run, opened from the store if it is not in memory; None if it does not exist."""
        if run in self._runs:
            return self._runs[run]
        if run in self._unknown or not is_run_id(run):
            return None
        try:
            run_ledger = await self._opener.open(run, self._clock.monotonic())
        except InvalidInput as error:
            self._trouble(Trouble.LOST, f"run {run}: {error}")
            run_ledger = None
        if run_ledger is None:
            self._unknown[run] = None
            return None
        run_ledger.announced_end = self._announced.get(run, run_ledger.announced_end)
        self._runs[run] = run_ledger
        return run_ledger

    async def _make_room(self) -> None:
        logs = [run.log for run in self._runs.values()]
        while sum(log.pending for log in logs) > self._bounds.pending:
            await max(logs, key=lambda log: log.pending).flush()
        for log in (each for each in logs if each.waiting >= self._bounds.verdicts):
            await log.flush()

    async def conclude(self) -> None:
        """End every run that is due, and drop runs that ended long ago.

        Only for an aggregator that has caught up: before, it would end runs again that it ended
        earlier. Raises StoreUnavailable, StoreFull, or what `announce` raises; call it again then.
        """
        for run in list(self._runs.values()):
            if self._idle_seconds(run) >= self._bounds.idle:
                # The retried questions were answered before the plan that retries them, or are
                # lost: stop waiting for them.
                run.retries.clear()
            if run.is_due and self._may_end(run):
                await self._end(run)
        async with self._lock:
            for name, run in list(self._runs.items()):
                if (
                    run.end_is_current
                    and not run.is_due
                    and self._idle_seconds(run) >= self._bounds.idle
                ):
                    await run.log.flush()
                    self._drop(name)

    def _drop(self, name: str) -> None:
        self._rolling.forget(name)
        self.live.on_removal(self._runs.pop(name))

    def _idle_seconds(self, run: RunLedger) -> float:
        return self._clock.monotonic() - run.opened_at

    def _may_end(self, run: RunLedger) -> bool:
        early = run.due_state is not RunState.FINISHED and not run.is_broken
        if early and self._idle_seconds(run) < self._bounds.quiet:
            return False
        return run.reported_changes < 0 or self._rolling.may_run(f"{run.run}/report")

    async def _end(self, run: RunLedger) -> None:
        ending, changes = run.due_state, run.ledger.changes
        if ending is None:
            return
        # Evidence first: where end.json exists, so does all evidence behind the report.
        await run.log.flush()
        result = await self._write(run, ending)
        if result is None:
            return
        outcomes = run.ledger.digest()
        now = self._clock.now()
        await run.write_end(result, outcomes, now)
        run.reported_changes = changes
        if run.announced_end != result:
            state, report = result
            error = run.error if state is RunState.FAILED else ""
            event = RunEnded(run.run, state, error, report)
            await self._outlets.announce(event)
            self._note_end(event)
            await run.write_end(result, outcomes, now)

    async def _write(self, run: RunLedger, ending: RunState) -> tuple[RunState, str] | None:
        """Write the report. Returns its state and digest, or None if it is out of date."""
        if not run.is_broken:
            try:
                spending = self._rolling.charge(f"{run.run}/report")
                result = await self._files.write(run, ending, self.live, spending)
            except InvalidInput as error:
                run.is_broken, run.error = True, str(error)
                self._trouble(Trouble.LOST, f"run {run.run}: {error}")
            else:
                return result if run.due_state is ending else None
        return RunState.FAILED, ""

    async def flush(self) -> None:
        """Write the pending evidence. Raises StoreUnavailable or StoreFull."""
        await asyncio.gather(*(run.log.flush() for run in self._runs.values()))

    async def snapshot(self) -> None:
        """Store everything that `resume` needs. Raises StoreUnavailable or StoreFull."""
        async with self._lock:
            await self.flush()
            runs = {
                name: RunSnapshot(
                    run.facts(), run.ledger.columns, run.reported_changes == run.ledger.changes
                )
                for name, run in self._runs.items()
            }
            snapshot = Snapshot(self._number, self.places, dict(self._announced), runs)
            # The lock keeps records out, so the columns need not be copied.
            data = await asyncio.to_thread(encode, snapshot)
            await save(self._store, self._number, data)
            self._number += 1
        self._outlets.telemetry.record(SnapshotKept(self._clock.now().timestamp()))

    async def scores(self, run: str, *, wait: bool = False) -> Scores | None:
        """The state and figures of a run so far; None for an unknown run. With `wait`, waits
        for the final figures of a run that is over.

        Recomputing figures takes at most a tenth of the time. Raises StoreUnavailable,
        InvalidInput when the plan is lost.
        """
        async with self._lock:
            if not is_run_id(run):
                return None
            self._unknown.pop(run, None)
            if run in self._runs and not self.leads:
                self._drop(run)
            run_ledger = await self.find(run)
            if run_ledger is None:
                planning = await self._opener.planning(run)
                return Scores(RunState.PLANNING, ()) if planning else None
        return await self._rolling.scores(run_ledger, wait=wait)

    def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        """Yield the result of `scores` now and whenever it changes, until the run is over."""
        return changes_of(partial(self.scores, run, wait=True), interval, self._clock)

    def _trouble(self, kind: Trouble, text: str) -> None:
        self.troubles[kind] += 1
        self._outlets.warn(kind, text)
