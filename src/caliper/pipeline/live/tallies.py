"""Incremental tallies of all runs whose scores are requested, kept in step with their ledgers.

A run is counted once, over its whole plan. From then on only samples with changed outcomes are
reduced again: their previous contribution is withdrawn and the new one added. Sums are exact, so
the result equals a full recount. Live scores and reports are computed from the same tallies.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from caliper.core.envelopes import Record
from caliper.core.messages import Verdicts
from caliper.core.outcome import Outcome
from caliper.core.question import Item
from caliper.core.report import Report
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.pipeline.ledger.averages import PlannedAverages
from caliper.pipeline.ledger.ledger import OutcomeChange
from caliper.pipeline.ledger.report import add_items, figures_of, run_status
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.plan_lookup import PlanLookup
from caliper.pipeline.live.scores import sample_tally
from caliper.pipeline.live.windows import Place

_MOST_CHANGES = 100_000


class LedgerWatcher(Protocol):
    """Observes changes to the ledgers of runs. Methods must be quick and must not raise."""

    def on_plan(self, run: RunLedger) -> None:
        """A run was planned, or taken over from a snapshot."""
        ...

    def on_changes(
        self, run: RunLedger, message: Verdicts, timestamp: int, changes: Sequence[OutcomeChange]
    ) -> bool:
        """A message with that timestamp (milliseconds since 1970) changed these outcomes of the
        run. Returns whether to call `on_sample` for them.
        """
        ...

    def on_sample(
        self, run: RunLedger, item: Item, places: Collection[Place], now: tuple[Tally, int]
    ) -> None:
        """The item's sample changed at these places in the log. `now` is its tally, and how many
        of its questions are scored.
        """
        ...

    def on_removal(self, run: str) -> None:
        """A run was dropped."""
        ...


@dataclass(frozen=True, slots=True)
class _QueuedChange:
    """A changed outcome whose sample is not reduced yet: its place in the log, and the outcome
    `before` that the totals contain. If `counted`, they already contain the current one.
    """

    place: Place
    before: Outcome | None
    counted: bool = False


@dataclass(slots=True)
class _RunTallies:
    """The tallies of one run: `totals` by benchmark, or None while they are not kept up to date,
    and its planned `averages`, known once it was counted.

    `noted` is the ledger's change count up to which no change was missed. `figures` is the report
    computed last, with the least change count that it covers. Once a run has ended, its totals
    are `released`; it is `late` if an outcome changed after that, as more changes are likely.
    """

    run: RunLedger
    averages: PlannedAverages
    noted: int
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    totals: dict[str, Tally] | None = None
    waiting: dict[int, _QueuedChange] = field(default_factory=dict)
    figures: tuple[int, Report] | None = None
    counting: bool = False
    missed: int = 0
    released: bool = False
    late: bool = False

    def miss(self) -> None:
        """Changes were missed: discard the totals, so that the run is counted again."""
        self.totals, self.missed = None, self.missed + 1
        self.waiting.clear()

    @property
    def over(self) -> bool:
        """Whether no more changes of the run are expected."""
        return self.run.due_state is not None and not self.late

    def release(self) -> None:
        """Free the totals if the run is over."""
        if self.over:
            self.totals, self.released = None, True

    def note(self, change: OutcomeChange, place: Place) -> None:
        """Queue a change until its sample is reduced."""
        queued = self.waiting.get(change.index)
        before = change.before if queued is None or queued.counted else queued.before
        place = place if queued is None else max(place, queued.place)
        self.waiting[change.index] = _QueuedChange(place, before)

    def counted(self, items: Sequence[Item]) -> None:
        """The items were counted with the current outcomes of the ledger."""
        last = items[-1]
        for index in [
            index for index in self.waiting if items[0].first <= index < last.first + last.size
        ]:
            self.waiting[index] = _QueuedChange(self.waiting[index].place, None, counted=True)


class LiveTallies:
    """Tallies and figures of runs. At most `most` changes are queued per run; beyond that, the run
    is counted again.

    The tallies of a large run take memory, so callers hold the lock `turn` while they count a run
    over its plan.
    """

    def __init__(self, most: int = _MOST_CHANGES) -> None:
        self._most, self._lookup = most, PlanLookup()
        self._runs: dict[str, _RunTallies] = {}
        self.turn = asyncio.Lock()
        self.watcher: LedgerWatcher | None = None

    def on_plan(self, run: RunLedger) -> None:
        """A run was planned, or taken over from a snapshot."""
        if self.watcher is not None:
            self.watcher.on_plan(run)

    def on_changes(
        self, run: RunLedger, message: Verdicts, record: Record, changes: Sequence[OutcomeChange]
    ) -> None:
        """A message was entered into the ledger of its run and made these changes."""
        new = [change for change in changes if change.before != change.now]
        watched = self.watcher is not None and self.watcher.on_changes(
            run, message, record.timestamp, new
        )
        sums = self._of(run, len(changes)) if watched else self._runs.get(run.run)
        if sums is None or sums.run is not run:
            return
        sums.late |= sums.released and bool(new)
        if sums.noted + len(changes) != run.ledger.changes or len(sums.waiting) >= self._most:
            sums.miss()
        sums.noted = run.ledger.changes
        if watched or sums.counting or sums.totals is not None:
            for change in new:
                sums.note(change, (record.timestamp, record.partition, record.offset))

    def _of(self, run: RunLedger, new: int = 0) -> _RunTallies:
        tallies = self._runs.get(run.run)
        if tallies is None or tallies.run is not run:
            averages = PlannedAverages(run.spec)
            tallies = _RunTallies(run, averages, run.ledger.changes - new)
            self._runs[run.run] = tallies
        return tallies

    def averages(self, spec: RunSpec) -> PlannedAverages:
        """The planned averages of a run, empty before it was counted."""
        tallies = self._runs.get(spec.run_id)
        return PlannedAverages(spec) if tallies is None else tallies.averages

    def is_live(self, run: RunLedger) -> bool:
        """Whether the totals of the run are kept up to date."""
        return self._of(run).totals is not None

    def queued_runs(self) -> list[RunLedger]:
        """The runs with queued changes."""
        return [sums.run for sums in self._runs.values() if sums.waiting]

    async def catch_up(self, run: RunLedger) -> None:
        """Apply the queued changes. Raises InvalidInput when the plan is lost, StoreUnavailable:
        the rest stays queued then.
        """
        sums = self._of(run)
        async with sums.lock:
            await self._catch_up(sums)

    async def _catch_up(self, sums: _RunTallies) -> None:
        for index in sorted(sums.waiting):
            if index in sums.waiting:
                items = await self._lookup.sample(sums.run, index)
                # Let the event loop enter records.
                await asyncio.sleep(0)
                self._reduce(sums, items)

    def _reduce(self, sums: _RunTallies, items: Sequence[Item]) -> None:
        indices = [index for item in items for index, _, _ in item.positions()]
        waiting = {index: sums.waiting.pop(index) for index in indices if index in sums.waiting}
        if not waiting:
            return
        before = {index: change.before for index, change in waiting.items() if not change.counted}
        added, scored = sample_tally(sums.run, items, {})
        if before and sums.totals is not None:
            previous, _ = sample_tally(sums.run, items, before)
            total = sums.totals[items[0].benchmark]
            total.withdraw(previous.entries())
            total.absorb(added)
        if self.watcher is not None:
            places = {change.place for change in waiting.values()}
            self.watcher.on_sample(sums.run, items[0], places, (added, scored))

    @asynccontextmanager
    async def sums(self, run: RunLedger) -> AsyncIterator[Mapping[str, Tally]]:
        """The tally of each benchmark over the whole ledger, locked while the context lasts.

        Raises InvalidInput when the plan is lost, StoreUnavailable.
        """
        sums = self._of(run)
        async with sums.lock:
            if sums.noted != run.ledger.changes:
                sums.miss()
                sums.noted = run.ledger.changes
            if sums.totals is not None:
                await self._catch_up(sums)
            totals = sums.totals
            if totals is None:
                totals = await self._count(sums)
                await self._catch_up(sums)
            yield totals

    async def _count(self, sums: _RunTallies) -> dict[str, Tally]:
        """Count the run over its whole plan. Totals are kept if the run is not over."""
        run, missed = sums.run, sums.missed
        totals = {part.name: Tally() for part in run.spec.benchmarks}
        sums.counting = True
        try:
            async for items in run.plan():
                add_items(totals, run.spec, items, run.ledger)
                sums.averages.add(items)
                sums.counted(items)
                await asyncio.sleep(0)
        finally:
            sums.counting = False
        if sums.missed == missed:
            sums.totals = totals
            sums.release()
        return totals

    def cached_figures(self, run: RunLedger) -> tuple[int, Report] | None:
        """The figures computed last, and the least change count that they cover."""
        return self._of(run).figures

    async def figures(self, run: RunLedger) -> tuple[int, Report]:
        """The figures of the current ledger, and the change count that they cover.

        Raises as `sums` does.
        """
        sums, changes = self._of(run), run.ledger.changes
        figures = sums.figures
        if figures is None or figures[0] != changes:
            async with self.sums(run) as totals:
                covered = run_status(run.spec, run.summary, run.ledger)
                # In a thread: the intervals of a large run would block the event loop.
                report = await asyncio.to_thread(
                    figures_of, run.spec, totals, covered, sums.averages
                )
                figures = sums.figures = changes, report
            if self.watcher is None:
                sums.release()
        return figures

    def free_idle(self, busy: Collection[str]) -> None:
        """Free the totals of runs that are over, except those that are `busy`."""
        for name, sums in self._runs.items():
            if name not in busy and not sums.waiting:
                sums.release()
        if not busy:
            # A report may be in progress, which needs the memory.
            self._lookup.clear()

    def drop(self, run: RunLedger) -> None:
        """Free everything about a run."""
        if run.run in self._runs and self._runs[run.run].run is run:
            del self._runs[run.run]
            self._lookup.forget(run.run)

    def on_removal(self, run: RunLedger) -> None:
        """A run was dropped."""
        self.drop(run)
        if self.watcher is not None:
            self.watcher.on_removal(run.run)
