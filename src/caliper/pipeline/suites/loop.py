"""The loop: registers checkpoints and evaluates them, one at a time, by training step.

Several loops may share a registry. Each evaluates an entry under its lease, and writes the result
only over the entry that it claimed. So however a loop ends, another continues the entry's run, and
the entry is decided once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from caliper.core.backoff import Backoff
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.errors import (
    CaliperError,
    InvalidInput,
    LeaseLost,
    StoreUnavailable,
)
from caliper.core.spending import Spending
from caliper.core.suites import Suite, SuiteState
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.suites.accounts import (
    SuiteAccounts,
    expected_spending,
    limits_of,
    rest_spending,
)
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.arrivals import ArrivalBook, Arrivals
from caliper.pipeline.suites.baselines import BaselineChoice, choose_baseline
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import CheckpointEvaluator, EntryEvaluation, EntryResult
from caliper.pipeline.suites.evaluation_watch import EvaluationWatch
from caliper.pipeline.suites.history import EntryHistory
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.pipeline.suites.source_leases import SourceLeases
from caliper.pipeline.suites.tenure import while_held
from caliper.ports.clock import Clock
from caliper.ports.storage import DeletableStore

_BACKOFF = Backoff(first=10.0, longest=600.0)
_OUTAGE = 10.0
"""Seconds between two tries while the store is away."""


@dataclass(frozen=True, slots=True)
class SuiteEvent:
    """Something that happened to an entry of a suite, None if it cannot be read."""

    suite: str
    event: str
    entry: CheckpointEntry | None
    detail: str = ""


OnEvent = Callable[[SuiteEvent], None]


class SuiteLoop:
    """Evaluates the checkpoints of some suites. `arrivals` is as for `ArrivalBook`; without it,
    others register checkpoints. `sources` marks and watches the sources of those evaluated.
    """

    def __init__(
        self,
        store: DeletableStore,
        clock: Clock,
        evaluator: CheckpointEvaluator,
        on_event: OnEvent,
        arrivals: Arrivals | None = None,
        sources: SourceLeases | None = None,
    ) -> None:
        self._store, self._clock, self._evaluator = store, clock, evaluator
        self._on_event, self._registry = on_event, SuiteRegistry(store, clock)
        self._history, self._sources = EntryHistory(self._registry), sources
        self._evaluation = EntryEvaluation(store, clock, evaluator, EvaluationWatch(clock, sources))
        self._book = Administration(self._registry)
        self._arrivals = ArrivalBook(self._registry, arrivals, self._tell)
        self._holder = secrets.token_hex(8)
        self._leases: dict[str, Lease] = {}
        self._unreadable: set[str] = set()
        # The reported reasons of entries that wait for a budget, by key.
        self._refusals: dict[str, str] = {}
        # When a waiting entry is tried again, by key.
        self._due: dict[str, float] = {}
        # Entries that this loop could not give back while the store was away.
        self._own: set[str] = set()
        # Suites without leases that outlived their entries.
        self._tidy: set[str] = set()

    async def run(self, names: Sequence[str], *, once: bool, pace: float = 1.0) -> None:
        """Evaluate the checkpoints of these suites, or without names of all suites that can be
        read: forever, or with `once` until all are decided that can be. Raises UnknownName,
        DataLoss for a damaged suite that was named, and with `once` StoreUnavailable; without it,
        waits for a store that is away.
        """
        trouble = ""
        while True:
            try:
                open_, done = await self._round(names)
                trouble = ""
            except StoreUnavailable as error:
                if once:
                    raise
                self._tidy.clear()
                if not trouble:
                    trouble = str(error)
                    self._on_event(SuiteEvent(" ".join(names), "store away", None, trouble))
                await self._clock.sleep(max(pace, _OUTAGE))
                continue
            if once and not open_:
                return
            if not done:
                await self._clock.sleep(pace)

    async def _round(self, names: Sequence[str]) -> tuple[int, int]:
        """A turn of each suite. Returns how many entries are open, and were evaluated."""
        listing = await self._book.suites(names)
        suites = sorted(listing.records, key=lambda each: -each.suite.priority.weight)
        await self._arrivals.receive()
        open_, done = 0, 0
        for record in suites:
            if self._sources is not None:
                await self._sources.tidy(record.suite.name)
            if record.state is SuiteState.RETIRED:
                continue
            await self._arrivals.register(record.suite)
            if record.state is SuiteState.ACTIVE:
                try:
                    left, decided = await self._turn(record.suite)
                except InvalidInput as error:
                    # Only this suite: the others go on.
                    self._tell_unreadable(record.suite, str(error))
                    continue
                open_, done = open_ + left, done + decided
        return open_, done

    def _tell(self, entry: CheckpointEntry, event: str, detail: str | None = None) -> None:
        about = entry.reason if detail is None else detail
        self._on_event(SuiteEvent(entry.suite, event, entry, about))

    def _tell_unreadable(self, suite: Suite, detail: str) -> None:
        if detail not in self._unreadable:
            self._unreadable.add(detail)
            self._on_event(SuiteEvent(suite.name, "unreadable", None, detail))

    async def _turn(self, suite: Suite) -> tuple[int, bool]:
        """Evaluate the first entry that can be. Returns how many wait for any loop, and whether one
        was evaluated.
        """
        stored, unreadable = await self._history.entries(suite.name)
        for lost in unreadable:
            self._tell_unreadable(suite, lost.key)
        await self._remove_leases(suite.name, stored)
        present = [each for each in stored if each.entry.version == suite.version]
        old = [
            each for each in stored if each.entry.is_open and each.entry.version != suite.version
        ]
        if old:
            # First: later ones may need these as baselines.
            for each in old:
                await self._supersede(suite, each)
            return len(old), False
        entries, left = [each.entry for each in present], 0
        accounts, limits = SuiteAccounts(self._store, self._clock, suite.name), limits_of(suite)
        mean = expected_spending([each.entry for each in stored])
        account = await accounts.present() if limits else None
        for each in filter(self._is_due, present):
            choice = choose_baseline(suite.baseline, each.entry, entries)
            if choice.is_pending:
                continue
            estimate = mean + rest_spending(choice.entry)
            refusal = account.refusal(limits, estimate) if account else ""
            if refusal and await self._hold(each, refusal):
                continue
            left += 1
            if await self._try(suite, each, (choice, estimate)):
                return left, True
        return left, False

    async def _hold(self, stored: StoredEntry, refusal: str) -> bool:
        """Let an entry wait for the next month's budget, unless another loop evaluates it."""
        if not await self._lease(stored).is_free():
            return False
        waiting: StoredEntry | None = stored
        if stored.entry.reason != refusal:
            waiting = await self._registry.move(stored, EntryCause.BUDGET, reason=refusal)
        if waiting is not None and self._refusals.get(stored.key) != refusal:
            self._refusals[stored.key] = refusal
            self._tell(waiting.entry, str(waiting.entry.state))
        return True

    async def _remove_leases(self, suite: str, stored: Sequence[StoredEntry]) -> None:
        """Remove the leases that a crash or an outage left of entries decided just before."""
        if suite in self._tidy:
            return
        over = {each.lease_key: each.key for each in stored if not each.entry.is_open}
        leases = [key async for key in self._store.list(f"suites/{suite}/leases/")]
        for lease in leases:
            # Somebody may have retried it since it was read.
            now = await self._registry.read(over[lease]) if lease in over else None
            if now is not None and not now.entry.is_open:
                await self._store.delete(lease)
        self._tidy.add(suite)

    def _is_due(self, stored: StoredEntry) -> bool:
        """Whether an entry is open, and not waiting for its next attempt."""
        if stored.entry.state is EntryState.WAITING:
            return self._clock.monotonic() >= self._due.get(stored.key, float("-inf"))
        return stored.entry.is_open

    async def _supersede(self, suite: Suite, stored: StoredEntry) -> None:
        """Move an entry that another version of the suite left open to the present one."""
        lease = self._lease(stored)
        if not await lease.is_free():
            return
        await self._registry.register(suite, stored.entry.checkpoint)
        reason = f"evaluated in version {suite.version}"
        await self._registry.move(stored, EntryCause.NEW_VERSION, reason=reason)
        self._leases.pop(stored.key, None)

    def _lease(self, stored: StoredEntry) -> Lease:
        new = Lease(self._store, self._clock, stored.lease_key, holder=self._holder)
        return self._leases.setdefault(stored.key, new)

    async def _try(
        self, suite: Suite, stored: StoredEntry, plan: tuple[BaselineChoice, Spending]
    ) -> bool:
        """Evaluate an entry, unless another loop does, and return whether it was evaluated. The
        plan is its baseline, and the estimate of its cost.
        """
        lease = self._lease(stored)
        if not (await lease.is_free() and await lease.take()):
            return False
        claim, is_lost = None, False
        try:
            again = stored.entry.state is EntryState.EVALUATING
            crashes = stored.entry.crashes + (again and stored.key not in self._own)
            claimed = await self._registry.move(stored, EntryCause.CLAIM, crashes=crashes)
            if claimed is None:
                return False
            claim = EntryClaim(self._registry, claimed, lease)
            plan = (await self._whole(plan[0]), plan[1])
            self._tell(claim.entry, "taken over" if again else "started")
            result = await while_held(
                lease, self._clock, self._evaluation.result(suite, claim, *plan)
            )
            await self._conclude(suite, claim, result)
        except LeaseLost:
            self._tell(stored.entry, "lost to another loop")
            is_lost = True
        finally:
            self._own.discard(stored.key)
            if claim is not None and not is_lost:
                await self._give_back(stored.key, claim)
            await lease.release()
            if not is_lost:
                with suppress(StoreUnavailable):
                    await self._store.delete(stored.lease_key)
            self._leases.pop(stored.key, None)
        return True

    async def _whole(self, choice: BaselineChoice) -> BaselineChoice:
        """The choice with all figures of the baseline: the history has headlines only."""
        if choice.entry is None:
            return choice
        whole = await self._registry.read_or_name(choice.entry.key("entries"))
        if isinstance(whole, StoredEntry) and whole.entry.run == choice.entry.run:
            return replace(choice, entry=whole.entry)
        return choice

    async def _give_back(self, key: str, claim: EntryClaim) -> None:
        """Let others evaluate it, unless it has a result."""
        if claim.entry.state is not EntryState.EVALUATING:
            return
        self._own.add(key)
        with suppress(CaliperError):
            await claim.move(EntryCause.INTERRUPTION)
            self._own.discard(key)

    async def _conclude(self, suite: Suite, claim: EntryClaim, result: EntryResult) -> None:
        key = claim.key
        entry = await claim.move(result.cause, **result.fields)
        if entry is None:
            # Somebody skipped it meanwhile.
            self._tell(claim.entry, "changed meanwhile; its result is not used")
            return
        if result.cause is EntryCause.TROUBLE:
            wait = _BACKOFF.wait(entry.attempts, 0.0)
            self._due[key] = self._clock.monotonic() + wait
        self._tell(entry, str(entry.state))
        if not entry.is_open:
            self._due.pop(key, None)
            stored, _ = await self._history.entries(suite.name)
            await self._evaluator.after(suite, [each.entry for each in stored])
