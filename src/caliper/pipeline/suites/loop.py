"""The loop: registers what arrives and evaluates it, one checkpoint at a time, by training step.

Several loops may share a registry. Each evaluates an entry under its lease, and writes the result
only over the entry that it claimed; so whatever ends a loop, the entry is evaluated once more from
where its run is, and decided once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from caliper.core.backoff import Backoff
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import MOST_ATTEMPTS, MOST_CRASHES, EntryCause, EntryState
from caliper.core.errors import (
    BackendError,
    BackendRejected,
    CaliperError,
    LeaseLost,
    RunInUse,
    StoreUnavailable,
)
from caliper.core.spending import Spending
from caliper.core.suites import Suite, SuiteState
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.suites.accounts import SuiteAccounts, expected_spending, limits_of
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.arrivals import ArrivalBook, Arrivals
from caliper.pipeline.suites.baselines import BaselineChoice, choose_baseline
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.pipeline.suites.tenure import while_held
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_BACKOFF = Backoff(first=10.0, longest=600.0)


@dataclass(frozen=True, slots=True)
class EntryResult:
    """What became of an entry: the cause of its next state, and the fields to set."""

    cause: EntryCause
    fields: Mapping[str, Any] = field(default_factory=dict)


class CheckpointEvaluator(Protocol):
    """Evaluates a checkpoint and compares it with its baseline. `spent` is what the evaluation that
    ended last has cost, however it ended.
    """

    spent: Spending

    async def evaluate(
        self, suite: Suite, entry: CheckpointEntry, baseline: BaselineChoice
    ) -> EntryResult:
        """Evaluate to the end, resuming what an earlier process began.

        Raises BackendError to be tried again later; StoreUnavailable, which ends the loop; any
        other CaliperError, which fails the entry.
        """
        ...

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        """Put away what the suite does not keep, now that one of these entries was decided."""
        ...


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
    others register them.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Clock,
        evaluator: CheckpointEvaluator,
        on_event: OnEvent,
        arrivals: Arrivals | None = None,
    ) -> None:
        self._store, self._clock, self._evaluator = store, clock, evaluator
        self._on_event, self._registry = on_event, SuiteRegistry(store, clock)
        self._arrivals = ArrivalBook(self._registry, arrivals, self._tell)
        self._holder = secrets.token_hex(8)
        self._leases: dict[str, Lease] = {}
        self._unreadable: set[str] = set()
        # What this loop has told of entries that wait for a budget.
        self._held: dict[str, str] = {}
        # When an entry that waits is tried again.
        self._due: dict[str, float] = {}

    async def run(self, names: Sequence[str], *, once: bool, pace: float = 1.0) -> None:
        """Evaluate the checkpoints of these suites, for ever, or `once`: until all are decided
        that can be. Without names, of all suites that can be read by then. Raises UnknownName,
        DataLoss for a damaged suite that was named, StoreUnavailable.
        """
        book = Administration(self._registry)
        while True:
            listing = await book.suites(names)
            suites = sorted(listing.records, key=lambda each: -each.suite.priority.weight)
            await self._arrivals.receive()
            open_, done = 0, 0
            for record in suites:
                if record.state is SuiteState.RETIRED:
                    continue
                await self._arrivals.register(record.suite)
                if record.state is SuiteState.ACTIVE:
                    left, decided = await self._turn(record.suite)
                    open_, done = open_ + left, done + decided
            if once and not open_:
                return
            if not done:
                await self._clock.sleep(pace)

    def _tell(self, entry: CheckpointEntry, event: str, detail: str | None = None) -> None:
        about = entry.reason if detail is None else detail
        self._on_event(SuiteEvent(entry.suite, event, entry, about))

    async def _turn(self, suite: Suite) -> tuple[int, bool]:
        """Evaluate the first entry that can be. Returns how many wait for this loop or for
        another, and whether one was evaluated.
        """
        stored, unreadable = await self._registry.entries(suite.name)
        for lost in unreadable:
            if lost.key not in self._unreadable:
                self._unreadable.add(lost.key)
                self._on_event(SuiteEvent(suite.name, "unreadable", None, lost.key))
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
        estimate = expected_spending([each.entry for each in stored])
        refusal = (await accounts.present()).refusal(limits, estimate) if limits else ""
        for each in filter(self._is_due, present):
            choice = choose_baseline(suite.baseline, each.entry, entries)
            if choice.is_pending:
                continue
            if refusal and await self._hold(each, refusal):
                continue
            left += 1
            if await self._try(suite, each, (choice, estimate)):
                return left, True
        return left, False

    async def _hold(self, stored: StoredEntry, refusal: str) -> bool:
        """Let an entry wait for the next month's budget, unless another loop is at it."""
        if not await self._lease(stored).is_free():
            return False
        held: StoredEntry | None = stored
        if stored.entry.reason != refusal:
            held = await self._registry.move(stored, EntryCause.BUDGET, reason=refusal)
        if held is not None and self._held.get(stored.key) != refusal:
            self._held[stored.key] = refusal
            self._tell(held.entry, str(held.entry.state))
        return True

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

    def _lease(self, stored: StoredEntry) -> Lease:
        new = Lease(self._store, self._clock, stored.lease_key, holder=self._holder)
        return self._leases.setdefault(stored.key, new)

    async def _try(
        self, suite: Suite, stored: StoredEntry, plan: tuple[BaselineChoice, Spending]
    ) -> bool:
        """Evaluate an entry, unless another loop does. Returns whether it was evaluated. The plan
        is its baseline, and the estimate of its cost.
        """
        lease = self._lease(stored)
        if not (await lease.is_free() and await lease.take()):
            return False
        claimed = None
        try:
            again = stored.entry.state is EntryState.EVALUATING
            crashes = stored.entry.crashes + again
            claimed = await self._registry.move(stored, EntryCause.CLAIM, crashes=crashes)
            if claimed is None:
                return False
            self._tell(claimed.entry, "taken over" if again else "started")
            work = self._paid(suite, claimed.entry, *plan)
            result = await while_held(lease, self._clock, work)
            await self._conclude(suite, claimed, result)
            claimed = None
        except LeaseLost:
            self._tell(stored.entry, "lost to another loop")
            claimed = None
        finally:
            with suppress(StoreUnavailable):
                if claimed is not None:
                    await self._registry.move(claimed, EntryCause.INTERRUPTION)
            await lease.release()
            self._leases.pop(stored.key, None)
        return True

    async def _paid(
        self, suite: Suite, entry: CheckpointEntry, choice: BaselineChoice, estimate: Spending
    ) -> EntryResult:
        """Evaluate an entry on the suite's account."""
        accounts = SuiteAccounts(self._store, self._clock, suite.name)
        month, refusal = await accounts.begin(entry, limits_of(suite), estimate)
        if refusal:
            return EntryResult(EntryCause.BUDGET, {"reason": refusal})
        self._evaluator.spent = Spending()
        try:
            return await self._outcome(suite, entry, choice)
        finally:
            with suppress(StoreUnavailable):
                await accounts.end(entry, month, self._evaluator.spent)

    async def _outcome(
        self, suite: Suite, entry: CheckpointEntry, choice: BaselineChoice
    ) -> EntryResult:
        if entry.crashes >= MOST_CRASHES:
            reason = f"{entry.crashes} loops crashed while they evaluated it"
            return EntryResult(EntryCause.FAILURE, {"reason": reason})
        try:
            return await self._evaluator.evaluate(suite, entry, choice)
        except (StoreUnavailable, LeaseLost):
            raise
        except BackendRejected as error:
            return EntryResult(EntryCause.FAILURE, {"reason": str(error)})
        except (BackendError, RunInUse) as error:
            attempts = entry.attempts + 1
            cause = EntryCause.FAILURE if attempts >= MOST_ATTEMPTS else EntryCause.TROUBLE
            return EntryResult(cause, {"reason": str(error), "attempts": attempts})
        except CaliperError as error:
            return EntryResult(EntryCause.FAILURE, {"reason": str(error)})

    async def _conclude(self, suite: Suite, claimed: StoredEntry, result: EntryResult) -> None:
        moved = await self._registry.move(claimed, result.cause, **result.fields)
        if moved is None:
            # Somebody skipped it meanwhile.
            self._tell(claimed.entry, "changed meanwhile; its result is not used")
            return
        entry = moved.entry
        if result.cause is EntryCause.TROUBLE:
            wait = _BACKOFF.wait(entry.attempts, 0.0)
            self._due[claimed.key] = self._clock.monotonic() + wait
        self._tell(entry, str(entry.state))
        if not entry.is_open:
            stored, _ = await self._registry.entries(suite.name, suite.version)
            await self._evaluator.after(suite, [each.entry for each in stored])
