"""Aggregates many runs: reads verdicts from a log, and publishes scores and ends of runs.

One aggregator leads a slot of runs (see `lease`). Its snapshots contain offsets and ledgers, so
that the next leader resumes there. It reads later records again; applying a record twice changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from caliper.core.envelopes import Record
from caliper.core.errors import InvalidInput
from caliper.core.messages import MessageValue, PlanMade, RunCancelled, RunEnded
from caliper.core.outcome import UNDRAWN
from caliper.pipeline.aggregation.conclusion import Conclusion
from caliper.pipeline.aggregation.message_checks import check_event, check_key
from caliper.pipeline.aggregation.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.aggregation.run_table import RunTable
from caliper.pipeline.ledger.offsets import LogOffsets, format_position
from caliper.pipeline.ledger.snapshots import FOLDER, Snapshot, encode, newest, save
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.reports.interim_scores import changes_of
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.pipeline.work.authentic_stream import SENDER, Misfit
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.security_events import MessageRefused, Refusal
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import RecordsApplied, SnapshotSaved

_Read = TypeVar("_Read")


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
        self._outlets, bounds = outlets, bounds or Bounds()
        self._slot = bounds.slot
        self._folder = FOLDER if self._slot is None else self._slot.folder
        self.table = RunTable(store, clock, outlets, bounds)
        self._conclusion = Conclusion(self.table, clock, files, outlets, bounds)
        self.live, self.troubles = outlets.live, self.table.troubles
        self._lock = asyncio.Lock()
        self._number, self.places = 0, LogOffsets()
        # With slots, it leads only once it has resumed.
        self.leads = self._slot is None

    async def resume(self) -> None:
        """Resume from the newest intact snapshot, or without one from the first retained record.
        Raises StoreUnavailable.
        """
        # Requests for scores may already have opened runs, without their events: these are dropped.
        async with self._lock:
            self._forget()
            snapshot, errors = await newest(self._store, self._folder)
            for error in errors:
                self.table.warn(Trouble.LOST, str(error))
            if snapshot is not None:
                self._number, self.places = snapshot.number + 1, snapshot.offsets
                await self.table.restore(snapshot)
            self.leads = True

    async def stand_by(self) -> None:
        """Forget all runs and stop leading: `scores` then reads the store of another process."""
        async with self._lock:
            self._forget()
            self.leads = False

    def _forget(self) -> None:
        self.table.clear()
        self._number, self.places = 0, LogOffsets()

    async def begin(self, topic: str, log: str, ends: Mapping[int, int]) -> None:
        """Prepare for reading a topic; see `LogOffsets.begin`."""
        async with self._lock:
            if self.places.begin(topic, log, ends):
                self.table.warn(Trouble.LOST, f"{topic} was recreated: all of it is read again")

    async def apply(self, records: Sequence[Record]) -> None:
        """Apply records of the topics of verdicts and runs.

        Raises StoreUnavailable or StoreFull; the same records may then be applied again.
        """
        async with self._lock:
            for record in records:
                if self._slot is not None and not await self._slot.has(record):
                    self.places.advance(record)
                    continue
                with log_subject(record.message.key):
                    await self._enter(record)
                    applied = RecordsApplied(record.timestamp / 1000)
                    self._outlets.telemetry.record(applied)
                self.places.advance(record)
                await self.table.make_room()

    async def _enter(self, record: Record) -> None:
        message = record.message
        try:
            sender = self._outlets.signatures.sender(message)
            if message.topic == VERDICTS:
                await self._verdicts(record, sender)
            elif message.topic == RUNS:
                await self._event(record, sender)
        except Misfit as misfit:
            self._outlets.telemetry.record(MessageRefused(message.topic, misfit.reason))
            sent = message.headers.get(SENDER, "")
            text = f"{format_position(record)} {message.key!r:.60} of {sent!r:.40}: {misfit}"
            self.table.warn(Trouble.REFUSED, text)

    async def _verdicts(self, record: Record, sender: str) -> None:
        message = _decoded(self._codec.read_verdicts, record)
        check_key(message, record.message.key)
        run = await self.table.find(message.run)
        if run is None:
            if not self.table.is_lost(message.run):
                self._warn_unknown(record, message.run)
            return
        try:
            await self._outlets.plans.check(run, message, sender)
            run.active_at = self._clock.monotonic()
            changes = await run.merge(message.verdicts)
            self.live.on_changes(run, message, record, changes)
            run.retries.difference_update(
                verdict.index for verdict in message.verdicts if verdict.outcome != UNDRAWN
            )
        except Misfit:
            raise
        except Exception as error:  # noqa: BLE001 - told apart there
            self.table.blame(run, error)

    async def _event(self, record: Record, sender: str) -> None:
        event = _decoded(self._codec.read_run_event, record)
        check_event(event, record.message.key, sender)
        if isinstance(event, RunEnded):
            self.table.note_end(event)
        if isinstance(event, RunEnded | RunCancelled):
            return
        if isinstance(event, PlanMade):
            run = await self.table.reopen(event.run, event.start)
        else:
            run = await self.table.find(event.run, again=True)
        if run is not None:
            run.active_at = self._clock.monotonic()
            run.apply(event, record.timestamp)
            if isinstance(event, PlanMade):
                self.live.on_plan(run)
        elif await self.table.absent_scores(event.run) is None:
            self._warn_unknown(record, event.run)

    def _warn_unknown(self, record: Record, run: str) -> None:
        self.table.warn(Trouble.UNKNOWN_RUN, f"{format_position(record)}: run {run!r:.40}")

    async def conclude(self) -> None:
        """End every run that is due or cancelled, and drop runs that ended long ago.

        Only for an aggregator that has caught up: one behind would end runs again. Raises
        StoreUnavailable, StoreFull, or what `announce` raises; call it again then.
        """
        await self._conclusion.conclude()
        async with self._lock:
            await self.table.drop_idle()

    async def flush(self) -> None:
        """Write the pending evidence. Raises StoreUnavailable or StoreFull."""
        await asyncio.gather(*(run.log.flush() for run in self.table))

    async def snapshot(self) -> None:
        """Store all state for `resume`. Raises StoreUnavailable or StoreFull."""
        async with self._lock:
            await self.flush()
            snapshot = Snapshot(self._number, self.places, *self.table.snapshot())
            # The lock keeps records out, so the columns need not be copied.
            data = await asyncio.to_thread(encode, snapshot)
            await save(self._store, self._number, data, self._folder)
            self._number += 1
        self._outlets.telemetry.record(SnapshotSaved(self._clock.now().timestamp()))

    async def scores(self, run: str, *, wait: bool = False) -> Scores | None:
        """Like `ports.stages.ScoreBoard`; recomputing takes at most a tenth of the time. With
        `wait`, waits for the final figures of a run that is over. Raises StoreUnavailable.
        """
        async with self._lock:
            if not self.leads:
                await self.table.follow_store(run)
            run_ledger = await self.table.find(run, again=True)
            if run_ledger is None:
                return await self.table.absent_scores(run)
        try:
            return await self.table.rolling.scores(run_ledger, wait=wait)
        except Exception as error:  # noqa: BLE001 - told apart there
            self.table.blame(run_ledger, error)
            return Scores(run_ledger.state, (), run_ledger.error, run_ledger.start)

    def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        return changes_of(partial(self.scores, run, wait=True), interval, self._clock)


def _decoded(read: Callable[[MessageValue], _Read], record: Record) -> _Read:
    try:
        return read(record.message.value)
    except InvalidInput as error:
        raise Misfit(Refusal.UNDECODABLE, str(error)) from error
