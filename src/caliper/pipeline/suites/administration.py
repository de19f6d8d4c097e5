"""Use cases of suites and checkpoints for people and programs, wherever these are evaluated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.notices import NoticeRecord
from caliper.core.suites import Suite, SuiteCause, SuiteRecord, SuiteState
from caliper.pipeline.suites.accounts import AccountTotals, SuiteAccounts
from caliper.pipeline.suites.notice_store import NoticeBook
from caliper.pipeline.suites.progress import EntryProgress, read_progress
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry, find_entries
from caliper.pipeline.suites.slots import SlotState, slot_states


@dataclass(frozen=True, slots=True)
class SuiteListing:
    """Suites by name; `unreadable` lists the damaged ones, and why."""

    records: tuple[SuiteRecord, ...]
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryListing:
    """Entries by suite and training step; `unreadable` lists the damaged ones, and why."""

    entries: tuple[CheckpointEntry, ...]
    unreadable: tuple[str, ...] = ()


class Administration:
    """Use cases over a registry. Every method raises UnknownName for a suite or checkpoint that
    does not exist, DataLoss for a damaged suite that was named, and StoreUnavailable.

    Checkpoints are those of the present versions of suites; without names, of all suites.
    """

    def __init__(self, registry: SuiteRegistry) -> None:
        self._registry = registry
        self._notices = NoticeBook(registry.store)

    async def apply(self, suite: Suite) -> tuple[SuiteRecord, bool]:
        """Create a suite or change it; also whether its version is new."""
        return await self._registry.apply(suite)

    async def record(self, name: str) -> SuiteRecord:
        """A suite."""
        return await self._registry.record(name)

    async def suites(self, names: Sequence[str] = ()) -> SuiteListing:
        """The suites of these names, or all that can be read."""
        records, unreadable = [], []
        for name in dict.fromkeys(names) or await self._registry.names():
            try:
                records.append(await self._registry.record(name))
            except InvalidInput as error:
                if names:
                    raise
                unreadable.append(str(error))
        return SuiteListing(tuple(records), tuple(unreadable))

    async def change(self, name: str, cause: SuiteCause) -> SuiteRecord:
        """Pause, resume or retire a suite. Raises NotReady if its state does not allow it."""
        return await self._registry.change(name, cause)

    async def register(
        self, checkpoint: CheckpointRevision, names: Sequence[str] = ()
    ) -> list[tuple[CheckpointEntry, bool]]:
        """Its entry in each suite that is not retired, and whether it is new there. Raises
        NotReady if there is no such suite.
        """
        records = (await self.suites(names)).records
        takers = [each.suite for each in records if each.state is not SuiteState.RETIRED]
        if not takers:
            raise NotReady("no suite takes checkpoints: apply one, or resume it")
        return [await self._registry.register(suite, checkpoint) for suite in takers]

    async def entries(self, names: Sequence[str] = ()) -> EntryListing:
        """All entries."""
        stored, unreadable = await self._stored(names)
        return EntryListing(tuple(each.entry for each in stored), unreadable)

    async def whole_entries(self, names: Sequence[str] = ()) -> EntryListing:
        """All entries, with all their figures even from an installation."""
        return await self.entries(names)

    async def find(self, checkpoint: str, names: Sequence[str] = ()) -> list[CheckpointEntry]:
        """The entries of a checkpoint, by its name or the start of its revision. Raises
        InvalidInput if several checkpoints match.
        """
        stored, _ = await self._stored(names)
        return [each.entry for each in find_entries(stored, checkpoint)]

    async def change_entries(
        self, checkpoint: str, names: Sequence[str], cause: EntryCause
    ) -> list[CheckpointEntry]:
        """Retry or skip a checkpoint wherever possible. Raises NotReady if it is possible nowhere,
        and what `find` raises.
        """
        stored, _ = await self._stored(names)
        entries = find_entries(stored, checkpoint)
        ready = [each for each in entries if each.entry.after(cause, "")]
        if not ready:
            raise NotReady(f"{checkpoint}: it is {entries[0].entry.state} and cannot be {cause}")
        change = self._registry.change_entry
        return [await change(each.key, cause, attempts=0, crashes=0) for each in ready]

    async def account(self, name: str) -> AccountTotals:
        """A suite's spending this month."""
        await self._registry.record(name)
        accounts = SuiteAccounts(self._registry.store, self._registry.clock, name)
        return (await accounts.present()).totals

    async def slots(self) -> list[SlotState]:
        """The slots that suites share."""
        return await slot_states(self._registry.store)

    async def notice_ids(self, name: str) -> set[str]:
        """The ids of the notices about a suite's checkpoints."""
        await self._registry.record(name)
        return await self._notices.ids(name)

    async def notices(self, name: str, ids: Collection[str] | None = None) -> list[NoticeRecord]:
        """The notices about a suite's checkpoints, by time: all, or those of these ids that exist.
        An installation's have headlines only.
        """
        every = await self.notice_ids(name)
        return await self._notices.records(name, every if ids is None else every & {*ids})

    async def replay(self, name: str, notice: str) -> NoticeRecord:
        """Have the outbox deliver the notice whose id begins so to all its targets again. Raises
        InvalidInput if several match.
        """
        await self._registry.record(name)
        return await self._notices.reopen(await self._notices.find(name, notice))

    async def progress(self, name: str) -> list[EntryProgress]:
        """The progress of a suite's evaluations."""
        stored, _ = await self._stored([name])
        running = [each for each in stored if each.entry.state is EntryState.EVALUATING]
        return [await read_progress(self._registry, each) for each in running]

    async def _stored(self, names: Sequence[str]) -> tuple[list[StoredEntry], tuple[str, ...]]:
        listing = await self.suites(names)
        stored, unreadable = [], list(listing.unreadable)
        for record in listing.records:
            entries, lost = await self._registry.entries(record.suite.name, record.suite.version)
            stored += entries
            unreadable += [each.error for each in lost]
        return stored, tuple(unreadable)
