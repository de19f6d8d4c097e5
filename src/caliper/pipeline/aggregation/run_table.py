"""The runs that an aggregator holds in memory."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator

from cachetools import FIFOCache, LRUCache

from caliper.core.errors import (
    CaliperError,
    DataLoss,
    FunctionFailed,
    InvalidInput,
    JobFate,
    error_policy,
)
from caliper.core.messages import RunEnded
from caliper.core.run import RunState
from caliper.pipeline.aggregation.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.ledger.snapshots import RunSnapshot, Snapshot
from caliper.pipeline.reports.interim_scores import InterimScores
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.runs import is_run_id, last_start, run_store
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore

_LOG = logging.getLogger(__name__)
# Not every RuntimeError: a process that stops raises it as well.
_OF_FUNCTIONS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError),
    *(RecursionError, TypeError, ValueError, re.error),
)
_ABSENT_RUNS, _ANNOUNCED_RUNS = 1024, 4096


class RunTable:
    """Runs by their ids, with their live scores and announced ends. Faults are counted, and
    reported to the outlets.
    """

    def __init__(self, store: ObjectStore, clock: Clock, outlets: Outlets, bounds: Bounds) -> None:
        self._clock, self._outlets, self._bounds = clock, outlets, bounds
        self.live = outlets.live
        self.rolling = InterimScores(clock, self.live)
        self._store, self._opener = store, Runs(store)
        self._runs: dict[str, RunLedger] = {}
        # A lost run has failed; None stands for a run that does not exist.
        self._absent: LRUCache[str, Scores | None] = LRUCache(_ABSENT_RUNS)
        self._announced: FIFOCache[str, tuple[str, str]] = FIFOCache(_ANNOUNCED_RUNS)
        self.troubles: Counter[Trouble] = Counter()

    def __iter__(self) -> Iterator[RunLedger]:
        return iter(list(self._runs.values()))

    async def find(self, run: str, *, again: bool = False, start: int = 0) -> RunLedger | None:
        """The run, opened from the store if it is not in memory; None if it does not exist or is
        lost. A run that did not exist is looked up `again` only on request, a lost one only for a
        new `start`, as in `Runs.take_up`. Raises StoreUnavailable.
        """
        if run in self._runs:
            return self._runs[run]
        if not is_run_id(run):
            return None
        lost = self._absent.get(run)
        if lost is not None and not again:
            # Its verdicts may be read before the event that announces the plan of a new start.
            last = await last_start(run_store(self._store, run))
            start = start or (last if last > lost.start else 0)
        if run in self._absent and not (start or (again and lost is None)):
            return None
        self._absent.pop(run, None)
        try:
            run_ledger = await self._opener.take_up(run, self._clock.monotonic(), start)
        except InvalidInput as error:
            await self._lose(run, error)
            return None
        if run_ledger is None:
            if not again:
                # Verdicts come after the plan, requests may come before it.
                self._absent[run] = None
            return None
        run_ledger.announced_end = self._announced.get(run, run_ledger.announced_end)
        self._runs[run] = run_ledger
        return run_ledger

    async def reopen(self, run: str, start: int) -> RunLedger | None:
        """The run that was planned for `start`; if it had ended before, opened again, for the store
        may have lost something of it since.
        """
        known = self._runs.get(run)
        heals = known is not None and known.is_broken and known.is_new(start)
        if known is not None and known.is_new(start) and (heals or known.end_is_current):
            await known.log.flush()
            self.drop(run)
        run_ledger = await self.find(run, again=True, start=start)
        if run_ledger is not None:
            run_ledger.heals |= heals
        scores = None if run_ledger else await self.absent_scores(run)
        if scores is not None and scores.state is RunState.PLANNING:
            await self._lose(run, DataLoss.missing(SUMMARY))
        return run_ledger

    async def follow_store(self, run: str) -> None:
        """Bring a run up to date with what another process writes, and drop runs for which nobody
        has asked lately. Raises StoreUnavailable.
        """
        self._absent.pop(run, None)
        for known in self:
            if known.run == run:
                known.active_at = self._clock.monotonic()
                try:
                    await self._opener.refresh(known)
                except InvalidInput:
                    # Opened anew, it may be found lost.
                    self.drop(run)
            elif self.idle_seconds(known) >= self._bounds.idle:
                self.drop(known.run)

    async def absent_scores(self, run: str) -> Scores | None:
        """The state of a run that `find` does not find: lost, or being planned; None if it does not
        exist.
        """
        if self.is_lost(run) or not is_run_id(run):
            return self._absent.get(run)
        return Scores(RunState.PLANNING, ()) if await self._opener.planning(run) else None

    def is_lost(self, run: str) -> bool:
        """Whether the run has an object that cannot be read, and was not planned again since."""
        return self._absent.get(run) is not None

    async def _lose(self, run: str, error: InvalidInput) -> None:
        start = await last_start(run_store(self._store, run))
        self._absent[run] = Scores(RunState.FAILED, (), str(error), start)
        self.warn(Trouble.LOST, f"run {run}: {error}")

    def fail(self, run: RunLedger, error: CaliperError) -> None:
        """Fail a run until it is planned again, as after an object that cannot be read."""
        run.is_broken, run.error = True, str(error)
        with log_subject(run.run):
            self.warn(Trouble.LOST, f"run {run.run}: {error}")

    def blame(self, run: RunLedger, error: Exception) -> None:
        """Fail a run for an error of its own, as of an object that it needs or of its benchmark,
        which may be another package's: other runs go on. Raises any other error again, and where
        the run is alone also that of its benchmark.
        """
        failure = error
        if isinstance(error, _OF_FUNCTIONS):
            failure = FunctionFailed(f"{type(error).__name__}: {error}", error)
        if not isinstance(failure, CaliperError) or error_policy(failure).fate is JobFate.PAUSE:
            raise error
        if self._outlets.alone and isinstance(failure, FunctionFailed):
            raise error
        if failure is not error and not run.is_broken:
            _LOG.error("run %s: its benchmark failed", run.run, exc_info=error)
        self.fail(run, failure)

    def note_end(self, event: RunEnded) -> None:
        """Note an announced end, by this aggregator or its predecessor."""
        announcement = (event.state, event.report)
        # So that it is the newest of a snapshot, too.
        self._announced.pop(event.run, None)
        self._announced[event.run] = announcement
        if event.run in self._runs:
            self._runs[event.run].announced_end = announcement

    def idle_seconds(self, run: RunLedger) -> float:
        return self._clock.monotonic() - run.active_at

    async def drop_idle(self) -> None:
        """Drop runs that ended long ago. Raises StoreUnavailable or StoreFull."""
        for run in self:
            idle = self.idle_seconds(run) >= self._bounds.idle
            if idle and run.end_is_current and not run.is_due:
                await run.log.flush()
                self.drop(run.run)

    def drop(self, name: str) -> None:
        """Forget what is known of a run."""
        self._absent.pop(name, None)
        if name in self._runs:
            self.rolling.forget(name)
            run = self._runs.pop(name)
            run.log.clear_cache()
            self.live.on_removal(run)

    def clear(self) -> None:
        for run in self:
            self.drop(run.run)
        self._announced.clear()
        self._absent.clear()

    async def make_room(self) -> None:
        """Write evidence beyond the bounds. Raises StoreUnavailable or StoreFull."""
        logs = [run.log for run in self._runs.values()]
        while sum(log.pending for log in logs) > self._bounds.pending:
            await max(logs, key=lambda log: log.pending).flush()
        for log in (each for each in logs if each.waiting >= self._bounds.verdicts):
            await log.flush()

    def snapshot(self) -> tuple[dict[str, tuple[str, str]], dict[str, RunSnapshot]]:
        """The announced ends and the runs. Their columns are not copied."""
        runs = {
            name: RunSnapshot(
                run.facts(), run.ledger.columns, run.reported_changes == run.ledger.changes
            )
            for name, run in self._runs.items()
        }
        return dict(self._announced), runs

    async def restore(self, snapshot: Snapshot) -> None:
        """Add the runs of a snapshot. Raises StoreUnavailable."""
        self._announced.clear()
        self._announced.update(snapshot.announced_ends)
        for run, saved in snapshot.runs.items():
            with log_subject(run):
                await self._restore(run, saved)

    async def _restore(self, run: str, saved: RunSnapshot) -> None:
        try:
            run_ledger = await self._opener.restore(run, saved.columns, self._clock.monotonic())
            run_ledger.restore(saved.facts)
        except DataLoss as error:
            await self._lose(run, error)
            return
        except InvalidInput as error:
            # It is opened anew from its segments.
            self.warn(Trouble.LOST, str(error))
            return
        run_ledger.reported_changes = run_ledger.ledger.changes if saved.current else -1
        self._runs[run] = run_ledger
        self.live.on_plan(run_ledger)

    def warn(self, kind: Trouble, text: str) -> None:
        """Count and report a fault."""
        self.troubles[kind] += 1
        self._outlets.warn(kind, text)
