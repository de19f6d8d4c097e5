"""The runs that an aggregator holds in memory."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator

from cachetools import LRUCache

from caliper.core.errors import InvalidInput
from caliper.core.messages import RunEnded
from caliper.pipeline.aggregation.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.ledger.run_ledger import RunLedger, Runs
from caliper.pipeline.ledger.snapshots import RunSnapshot, Snapshot
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.rolling_scores import RollingScores
from caliper.pipeline.store.runs import is_run_id
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_UNKNOWN_RUNS, _ANNOUNCED_RUNS = 1024, 4096


class RunTable:
    """Runs by their ids, with their live scores and announced ends. Faults are counted, and
    reported to the outlets.
    """

    def __init__(self, store: ObjectStore, clock: Clock, outlets: Outlets, bounds: Bounds) -> None:
        self._clock, self._outlets, self._bounds = clock, outlets, bounds
        self.live = LiveTallies(bounds.changes)
        self.rolling = RollingScores(clock, self.live)
        self._opener = Runs(store)
        self._runs: dict[str, RunLedger] = {}
        self._unknown: LRUCache[str, None] = LRUCache(_UNKNOWN_RUNS)
        self._announced: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self.troubles: Counter[Trouble] = Counter()

    def __iter__(self) -> Iterator[RunLedger]:
        return iter(list(self._runs.values()))

    async def find(self, run: str, *, again: bool = False) -> RunLedger | None:
        """The run, opened from the store if it is not in memory; None if it does not exist.
        A run that did not exist is looked up again only on request. Raises StoreUnavailable.
        """
        if run in self._runs:
            return self._runs[run]
        if again:
            self._unknown.pop(run, None)
        if run in self._unknown or not is_run_id(run):
            return None
        try:
            run_ledger = await self._opener.open(run, self._clock.monotonic())
        except InvalidInput as error:
            self.warn(Trouble.LOST, f"run {run}: {error}")
            run_ledger = None
        if run_ledger is None:
            self._unknown[run] = None
            return None
        run_ledger.announced_end = self._announced.get(run, run_ledger.announced_end)
        self._runs[run] = run_ledger
        return run_ledger

    async def is_planning(self, run: str) -> bool:
        return is_run_id(run) and await self._opener.planning(run)

    def note_end(self, event: RunEnded) -> None:
        """Note an announced end, by this aggregator or its predecessor."""
        announcement = (event.state, event.report)
        self._announced[event.run] = announcement
        self._announced.move_to_end(event.run)
        if len(self._announced) > _ANNOUNCED_RUNS:
            self._announced.popitem(last=False)
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
        """Drop a run, if it is in memory."""
        if name in self._runs:
            self.rolling.forget(name)
            self.live.on_removal(self._runs.pop(name))

    def clear(self) -> None:
        for run in self:
            self.drop(run.run)
        self._announced.clear()
        self._unknown.clear()

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
        self._announced = OrderedDict(snapshot.announced_ends)
        for run, saved in snapshot.runs.items():
            try:
                run_ledger = await self._opener.restore(run, saved.columns, self._clock.monotonic())
                run_ledger.restore(saved.facts)
            except InvalidInput as error:
                self.warn(Trouble.LOST, str(error))
                continue
            run_ledger.reported_changes = run_ledger.ledger.changes if saved.current else -1
            self._runs[run] = run_ledger
            self.live.on_restore(run_ledger)

    def warn(self, kind: Trouble, text: str) -> None:
        """Count and report a fault."""
        self.troubles[kind] += 1
        self._outlets.warn(kind, text)
