"""The registry of suites and checkpoints: one object each, changed by compare and swap.

suites/<name>/suite.json                          the suite's present version, and its state
suites/<name>/entries/<version>/<revision>.json   a checkpoint in a version of the suite
suites/<name>/leases/<version>/<revision>.json    the lease of the loop evaluating it
suites/<name>/markers/<version>/<revision>.json   the marker beside its source meanwhile
suites/<name>/begun/<version>/<revision>.json     the run that an installation began for it
suites/<name>/notices/<id>.json                   a notice about it, and its deliveries
suites/<name>/told.json                           the time up to which notices were removed

A damaged entry affects only itself: it is listed as unreadable, and replaced when its checkpoint
is delivered again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cachetools import LRUCache

from caliper.core.checkpoints import (
    CheckpointEntry,
    CheckpointRevision,
    EntryFigure,
    UnreadableEntry,
)
from caliper.core.entry_states import EntryCause
from caliper.core.errors import InvalidInput, NotReady, UnknownName
from caliper.core.suites import (
    Suite,
    SuiteCause,
    SuiteRecord,
    SuiteState,
    check_suite_name,
    suite_state_after,
)
from caliper.pipeline.store.changes import TRIES, Fields, contention, unique_json
from caliper.pipeline.store.runs import find_as, read_as
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_ROOT = "suites/"
_CACHED = 4096
_LISTED = 8
"""Number of labels that a message lists."""


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as it was read; `tag` is the version of its object."""

    entry: CheckpointEntry
    tag: str | None

    @property
    def key(self) -> str:
        """The key of its object."""
        return self.entry.key("entries")

    @property
    def lease_key(self) -> str:
        """The key of its lease."""
        return self.entry.key("leases")


class SuiteRegistry:
    """The suites and checkpoints of a store."""

    def __init__(self, store: ObjectStore, clock: Clock) -> None:
        self.store, self.clock = store, clock
        # A gateway lists all entries again for each page, and few of them change.
        self._cache: LRUCache[str, StoredEntry] = LRUCache(_CACHED)

    def now(self) -> str:
        """The present time, as records hold it."""
        return self.clock.now().isoformat(timespec="milliseconds")

    async def apply(self, suite: Suite) -> tuple[SuiteRecord, bool]:
        """Make this the present version of the suite; also returns whether the version is new. The
        state stays, except that of an unreadable record. Raises StoreUnavailable.
        """
        key = f"{_ROOT}{suite.name}/suite.json"
        for _ in range(TRIES):
            tag = await self.store.version(key)
            before = await find_as(self.store, key, SuiteRecord.from_json)
            if before is not None and before.suite == suite:
                return before, False
            is_new = before is None or before.suite.version != suite.version
            applied = self.now() if before is None or is_new else before.applied
            state = SuiteState.ACTIVE if before is None else before.state
            record = SuiteRecord(suite, state, applied)
            if await self._replace(key, record.to_json(), tag):
                return record, is_new
        raise contention(key)

    async def record(self, name: str) -> SuiteRecord:
        """A suite. Raises UnknownName, DataLoss if it is damaged, StoreUnavailable."""
        key = await self._suite_key(name)
        record = await read_as(self.store, key, SuiteRecord.from_json)
        if record is None:
            raise UnknownName("suite", name, tuple(await self.names()))
        return record

    async def _suite_key(self, name: str) -> str:
        try:
            return f"{_ROOT}{check_suite_name(name)}/suite.json"
        except InvalidInput:
            raise UnknownName("suite", name, tuple(await self.names())) from None

    async def names(self) -> list[str]:
        """The names of all suites."""
        keys = [key async for key in self.store.list(_ROOT)]
        return [key.split("/")[1] for key in keys if key.endswith("/suite.json")]

    async def change(self, name: str, cause: SuiteCause) -> SuiteRecord:
        """Pause, resume or retire a suite. Raises what `record` raises, and NotReady."""
        key = await self._suite_key(name)
        for _ in range(TRIES):
            tag, before = await self.store.version(key), await self.record(name)
            after = replace(before, state=suite_state_after(before.state, cause))
            if await self._replace(key, after.to_json(), tag):
                return after
        raise contention(key)

    async def register(
        self, suite: Suite, checkpoint: CheckpointRevision
    ) -> tuple[CheckpointEntry, bool]:
        """The entry of a checkpoint, and whether its first evaluation is due.

        Its step is as the suite reads it. A known checkpoint keeps its fields and gains tags, and a
        step if it had none. One whose source was gone is registered again. Raises StoreUnavailable.
        """
        checkpoint = suite.numbered(checkpoint)
        now = self.now()
        new = CheckpointEntry.new(suite.name, suite.version, checkpoint, now)
        key = new.key("entries")
        for _ in range(TRIES):
            tag = await self.store.version(key)
            before = await find_as(self.store, key, CheckpointEntry.from_json)
            after = new if before is None else _merged(before, checkpoint, now)
            if after == before or await self._replace(key, after.to_json(), tag):
                return after, before is None
        raise contention(key)

    async def entries(
        self, suite: str, version: str = ""
    ) -> tuple[list[StoredEntry], list[UnreadableEntry]]:
        """The entries of one version of a suite, or of all, by training step, and those that
        cannot be read. Raises StoreUnavailable.
        """
        keys = await self.keys(suite, version)
        entries = await asyncio.gather(
            *(self.read_or_name(key, self._cache.get(key)) for key in keys)
        )
        stored = [each for each in entries if isinstance(each, StoredEntry)]
        unreadable = [each for each in entries if isinstance(each, UnreadableEntry)]
        self._cache.update((each.key, each) for each in stored)
        return sorted(stored, key=lambda each: each.entry.order), unreadable

    async def keys(self, suite: str, version: str = "") -> list[str]:
        """The keys of these entries. Raises StoreUnavailable."""
        prefix = f"{_ROOT}{suite}/entries/" + (f"{version}/" if version else "")
        return [key async for key in self.store.list(prefix)]

    async def read(self, key: str) -> StoredEntry | None:
        """The entry under a key; None if it does not exist. Raises DataLoss, NewerSchema,
        StoreUnavailable.
        """
        stored = await self._read(key, self._cache.get(key))
        if stored is not None:
            self._cache[key] = stored
        return stored

    async def _read(self, key: str, before: StoredEntry | None) -> StoredEntry | None:
        tag = await self.store.version(key)
        if before is not None and before.tag == tag:
            return before
        entry = await read_as(self.store, key, CheckpointEntry.from_json)
        return None if entry is None else StoredEntry(entry, tag)

    async def read_or_name(
        self, key: str, before: StoredEntry | None = None
    ) -> StoredEntry | UnreadableEntry | None:
        """The entry under a key; `before` itself if it did not change since. An unreadable one is
        named. Raises StoreUnavailable.
        """
        try:
            stored = await self._read(key, before)
        except InvalidInput as error:
            return UnreadableEntry(key, str(error))
        return UnreadableEntry(key, "misplaced") if stored and stored.key != key else stored

    async def move(
        self, stored: StoredEntry, cause: EntryCause, **fields: Any
    ) -> StoredEntry | None:
        """Change an entry; None if it is no longer as it was read, or the cause cannot change it.
        Raises StoreUnavailable.
        """
        after = stored.entry.after(cause, self.now(), **fields)
        if after is None:
            return None
        tag = await self._replace(stored.key, after.to_json(), stored.tag)
        return None if tag is None else StoredEntry(after, tag)

    async def change_entry(self, key: str, cause: EntryCause, **fields: Any) -> CheckpointEntry:
        """Change an entry, also while others do. Raises NotReady if the cause cannot change it,
        InvalidInput if there is none, and what `read` raises.
        """
        for _ in range(TRIES):
            stored = await self.read(key)
            if stored is None:
                raise InvalidInput("no such entry", file=key)
            if stored.entry.after(cause, "") is None:
                label, state = stored.entry.checkpoint.label, stored.entry.state
                raise NotReady(f"{label} is {state} and cannot be {cause}")
            moved = await self.move(stored, cause, **fields)
            if moved is not None:
                return moved.entry
        raise contention(key)

    async def note_whole(self, entry: CheckpointEntry, figures: tuple[EntryFigure, ...]) -> None:
        """Note that the run of a decided entry was judged in full, with these figures, unless the
        entry has changed since. Raises DataLoss, StoreUnavailable.
        """
        key = entry.key("entries")
        for _ in range(TRIES):
            stored = await self.read(key)
            if stored is None or not stored.entry.is_decided or stored.entry.run != entry.run:
                return
            whole = replace(stored.entry, is_complete=True, figures=figures)
            if await self._replace(key, whole.to_json(), stored.tag):
                return
        raise contention(key)

    async def _replace(self, key: str, fields: Fields, tag: str | None) -> str | None:
        return await self.store.replace(key, unique_json(fields), tag)


def find_entries(stored: Sequence[StoredEntry], text: str) -> list[StoredEntry]:
    """The entries whose revision begins with a text, or which have it as name. Raises UnknownName
    if there are none, InvalidInput if they are of several checkpoints.
    """
    matches = [each for each in stored if text and _is_named(each.entry.checkpoint, text)]
    if not matches:
        labels = tuple(each.entry.checkpoint.label for each in stored[-_LISTED:])
        raise UnknownName("checkpoint", text, labels)
    if len({each.entry.checkpoint.revision for each in matches}) > 1:
        several = ", ".join(each.entry.checkpoint.label for each in matches[:_LISTED])
        raise InvalidInput(f"several checkpoints: {several}", field=text)
    return matches


def _is_named(checkpoint: CheckpointRevision, text: str) -> bool:
    return checkpoint.revision.startswith(text) or checkpoint.name == text


def _merged(before: CheckpointEntry, again: CheckpointRevision, now: str) -> CheckpointEntry:
    checkpoint = before.checkpoint
    tags = tuple(sorted({*checkpoint.tags, *again.tags}))
    step = again.step if checkpoint.step is None else checkpoint.step
    returned = before.after(EntryCause.RETURN, now, attempts=0, crashes=0)
    if returned is not None or before.is_open:
        # The source delivered last is the one that exists.
        checkpoint = replace(checkpoint, source=again.source, is_digest=again.is_digest)
        checkpoint = replace(checkpoint, appeared=again.appeared or checkpoint.appeared)
    return replace(returned or before, checkpoint=replace(checkpoint, tags=tags, step=step))
