"""The sums that scores are made of, of every run that somebody looks at, kept up with its ledger.

A run is counted once, over its whole plan. From then on only those samples are reduced whose
outcomes changed: what they added before is withdrawn. Sums are exact, so the result is that of
counting again. Live scores and reports are made of the same sums.
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
from caliper.core.tally import Tally
from caliper.pipeline.ledger.ledger import OutcomeChange
from caliper.pipeline.ledger.report import add_items, figures_of, standing
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.plan_lookup import PlanLookup
from caliper.pipeline.live.scores import reduced
from caliper.pipeline.live.windows import Place

MOST_CHANGES = 100_000


class LedgerWatcher(Protocol):
    """Told what the ledgers of runs come to hold. Must be quick and must not raise."""

    def hold(self, run: RunLedger) -> None:
        """A run was taken over from a snapshot."""
        ...

    def entered(
        self, run: RunLedger, message: Verdicts, timestamp: int, changes: Sequence[OutcomeChange]
    ) -> bool:
        """A message of that time (milliseconds since 1970) changed these outcomes of the run.
        Returns whether `judged` shall be called for them.
        """
        ...

    def judged(
        self, run: RunLedger, item: Item, places: Collection[Place], now: tuple[Tally, int]
    ) -> None:
        """The item's sample changed at these places of the log. `now` is what it adds to the run,
        and how many of its questions are scored.
        """
        ...

    def forget(self, run: str) -> None:
        """A run is no longer held."""
        ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An outcome that changed at a place of the log, and what it was in the sums. They hold what
    it is now if they were `counted` since.
    """

    place: Place
    before: Outcome | None
    counted: bool = False


@dataclass(slots=True)
class _Sums:
    """Those of one run: `totals` by benchmark, None while it is not followed. `noted` is the
    ledger's count of changes up to which none was missed, `figures` what was computed last and
    the count of changes that it covers at least.

    Of a run that has ended the totals are `released`. It is `late` if an outcome changed after
    that, and likely to change again.
    """

    run: RunLedger
    noted: int
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    totals: dict[str, Tally] | None = None
    waiting: dict[int, _Waiting] = field(default_factory=dict)
    figures: tuple[int, Report] | None = None
    counting: bool = False
    missed: int = 0
    released: bool = False
    late: bool = False

    def miss(self) -> None:
        """Changes were missed: the run has to be counted again."""
        self.totals, self.missed = None, self.missed + 1
        self.waiting.clear()

    @property
    def over(self) -> bool:
        """Whether nothing more is expected of the run."""
        return self.run.ending is not None and not self.late

    def release(self) -> None:
        """Let go of the totals of a run that is over."""
        if self.over:
            self.totals, self.released = None, True

    def note(self, change: OutcomeChange, place: Place) -> None:
        """Keep a change until its sample is reduced."""
        known = self.waiting.get(change.index)
        before = change.before if known is None or known.counted else known.before
        place = place if known is None else max(place, known.place)
        self.waiting[change.index] = _Waiting(place, before)

    def counted(self, items: Sequence[Item]) -> None:
        """The items were counted as the ledger has them now."""
        last = items[-1]
        for index in [
            one for one in self.waiting if items[0].first <= one < last.first + last.size
        ]:
            self.waiting[index] = _Waiting(self.waiting[index].place, None, counted=True)


class LiveTallies:
    """Sums and figures of runs. Of each run at most `most` changes wait for somebody to look: with
    more, it is counted again.

    The sums of a large run take room: who counts one over its plan holds the `turn`.
    """

    def __init__(self, most: int = MOST_CHANGES) -> None:
        self._most, self._lookup = most, PlanLookup()
        self._runs: dict[str, _Sums] = {}
        self.turn = asyncio.Lock()
        self.watcher: LedgerWatcher | None = None

    def hold(self, run: RunLedger) -> None:
        """A run was taken over from a snapshot."""
        if self.watcher is not None:
            self.watcher.hold(run)

    def entered(
        self, run: RunLedger, message: Verdicts, record: Record, changes: Sequence[OutcomeChange]
    ) -> None:
        """A message was entered into the ledger of its run, with these changes."""
        new = [change for change in changes if change.before != change.now]
        watched = self.watcher is not None and self.watcher.entered(
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

    def _of(self, run: RunLedger, new: int = 0) -> _Sums:
        found = self._runs.get(run.run)
        if found is None or found.run is not run:
            found = self._runs[run.run] = _Sums(run, run.ledger.changes - new)
        return found

    def follows(self, run: RunLedger) -> bool:
        """Whether its sums are kept up."""
        return self._of(run).totals is not None

    def waiting(self) -> list[RunLedger]:
        """The runs of which changes wait."""
        return [sums.run for sums in self._runs.values() if sums.waiting]

    async def catch_up(self, run: RunLedger) -> None:
        """Take in the changes that wait. Raises InvalidInput when the plan is lost,
        StoreUnavailable: they wait on then.
        """
        sums = self._of(run)
        async with sums.lock:
            await self._catch_up(sums)

    async def _catch_up(self, sums: _Sums) -> None:
        for index in sorted(sums.waiting):
            if index in sums.waiting:
                items = await self._lookup.sample(sums.run, index)
                # Records are waiting to be entered.
                await asyncio.sleep(0)
                self._take_in(sums, items)

    def _take_in(self, sums: _Sums, items: Sequence[Item]) -> None:
        indices = [index for item in items for index, _, _ in item.positions()]
        waiting = {index: sums.waiting.pop(index) for index in indices if index in sums.waiting}
        if not waiting:
            return
        before = {index: one.before for index, one in waiting.items() if not one.counted}
        now, scored = reduced(sums.run, items, {})
        if before and sums.totals is not None:
            was, _ = reduced(sums.run, items, before)
            total = sums.totals[items[0].benchmark]
            total.withdraw(was.entries())
            total.absorb(now)
        if self.watcher is not None:
            places = {one.place for one in waiting.values()}
            self.watcher.judged(sums.run, items[0], places, (now, scored))

    @asynccontextmanager
    async def sums(self, run: RunLedger) -> AsyncIterator[Mapping[str, Tally]]:
        """The tally of each benchmark with all that the ledger holds, unchanged meanwhile.

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

    async def _count(self, sums: _Sums) -> dict[str, Tally]:
        """Count over the whole plan. Totals that will change again are kept."""
        run, missed = sums.run, sums.missed
        totals = {part.name: Tally() for part in run.spec.benchmarks}
        sums.counting = True
        try:
            async for items in run.plan():
                add_items(totals, run.spec, items, run.ledger)
                sums.counted(items)
                await asyncio.sleep(0)
        finally:
            sums.counting = False
        if sums.missed == missed:
            sums.totals = totals
            sums.release()
        return totals

    def held(self, run: RunLedger) -> tuple[int, Report] | None:
        """The figures that were computed last, and the changes that they cover at least."""
        return self._of(run).figures

    async def figures(self, run: RunLedger) -> tuple[int, Report]:
        """As `held`, of all that the ledger holds now. Raises as `sums` does."""
        sums, changes = self._of(run), run.ledger.changes
        found = sums.figures
        if found is None or found[0] != changes:
            async with self.sums(run) as totals:
                covered = standing(run.spec, run.summary, run.ledger)
                # In a thread: intervals of a large run take a while, and records are waiting.
                report = await asyncio.to_thread(figures_of, run.spec, totals, covered)
                found = sums.figures = changes, report
            if self.watcher is None:
                sums.release()
        return found

    def rest(self, busy: Collection[str]) -> None:
        """Let go of the sums of runs that are over, but for those that are `busy`."""
        for name, sums in self._runs.items():
            if name not in busy and not sums.waiting:
                sums.release()
        if not busy:
            # A report may be in the making, which needs the room.
            self._lookup.rest()

    def drop(self, run: RunLedger) -> None:
        """Let go of all that there is of a run."""
        if run.run in self._runs and self._runs[run.run].run is run:
            del self._runs[run.run]
            self._lookup.forget(run.run)

    def forget(self, run: RunLedger) -> None:
        """A run is no longer held."""
        self.drop(run)
        if self.watcher is not None:
            self.watcher.forget(run.run)
