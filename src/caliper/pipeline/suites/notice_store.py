"""The notices of suites in the store: one object each, changed by compare and swap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.keys import canonical_json
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import NoticeDelivery, NoticeRecord
from caliper.core.run import SCHEMA
from caliper.pipeline.store.changes import TRIES, change_json, contention
from caliper.pipeline.store.runs import find_as, read_as, read_replaceable, write_json
from caliper.ports.storage import DeletableStore, ObjectStore

_REOPENED = 100


class NoticeBook:
    """The records of a store's notices, to read and to deliver again."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def ids(self, suite: str) -> set[str]:
        """The ids of all notices of a suite. Raises StoreUnavailable."""
        keys = [key async for key in self._store.list(_prefix(suite))]
        return {key.removeprefix(_prefix(suite)).removesuffix(".json") for key in keys}

    async def records(self, suite: str, ids: set[str]) -> list[NoticeRecord]:
        """These records by time; damaged ones are left out. Raises StoreUnavailable."""
        keys, decode = (_key(suite, each) for each in ids), NoticeRecord.from_json
        records = await asyncio.gather(*(find_as(self._store, key, decode) for key in keys))
        return in_order(each for each in records if each)

    async def find(self, suite: str, text: str) -> NoticeRecord:
        """The record whose id begins with a text. Raises UnknownName, InvalidInput for several
        records, DataLoss, StoreUnavailable.
        """
        ids = sorted(await self.ids(suite))
        matches = [each for each in ids if text and each.startswith(text)]
        if not matches:
            raise UnknownName("event", text, tuple(ids))
        if len(matches) > 1:
            raise InvalidInput(f"several events: {', '.join(matches)}", field=text)
        record = await read_as(self._store, _key(suite, matches[0]), NoticeRecord.from_json)
        if record is None:
            raise UnknownName("event", text, tuple(ids))
        return record

    async def change(
        self,
        record: NoticeRecord,
        target: str,
        change: Callable[[NoticeDelivery], NoticeDelivery | None],
    ) -> NoticeDelivery | None:
        """Change a delivery as it is stored now; None if `change` returns None for it. Raises
        DataLoss, StoreUnavailable.
        """
        key = _key(record.notice.suite, record.notice.id)
        for _ in range(TRIES):
            tag = await self._store.version(key)
            stored = await read_as(self._store, key, NoticeRecord.from_json) or record
            changed = change(stored.deliveries.get(target, NoticeDelivery()))
            if changed is None:
                return None
            deliveries: Mapping[str, NoticeDelivery] = {**stored.deliveries, target: changed}
            if await self._store.replace(key, _data(replace(stored, deliveries=deliveries)), tag):
                return changed
        raise contention(key)

    async def reopen(self, record: NoticeRecord) -> NoticeRecord:
        """Have outboxes deliver a notice again to all its targets. Returns the open record. Raises
        DataLoss, StoreUnavailable.
        """
        notice = record.notice
        for name in record.deliveries:
            await self.change(record, name, lambda _: NoticeDelivery())

        def note(fields: dict[str, Any]) -> dict[str, Any]:
            return {"ids": [*fields.get("ids", ()), notice.id][-_REOPENED:]}

        # Last: outboxes do not read again what is delivered.
        await change_json(self._store, _reopened_key(notice.suite), note)
        return replace(record, deliveries=dict.fromkeys(record.deliveries, NoticeDelivery()))

    async def reopened(self, suite: str) -> Mapping[str, Any]:
        """The `ids` of the notices reopened last; another mapping after each. Raises
        StoreUnavailable.
        """
        return await read_replaceable(self._store, _reopened_key(suite))


class NoticeStore(NoticeBook):
    """The records of a store's notices, to add and to remove as well."""

    def __init__(self, store: DeletableStore) -> None:
        super().__init__(store)
        self._deletable = store

    async def add(self, record: NoticeRecord) -> None:
        """Store a new record; one that exists stays. Raises StoreUnavailable."""
        key = _key(record.notice.suite, record.notice.id)
        await self._store.replace(key, _data(record), None)

    async def removed_before(self, suite: str) -> str:
        """The time before which all notices were delivered and removed. Raises StoreUnavailable."""
        return str((await read_replaceable(self._store, _removal_key(suite))).get("before", ""))

    async def remove(self, suite: str, ids: Collection[str], before: str) -> None:
        """Remove records, all from before a time, for good. Raises StoreUnavailable."""
        latest = max(before, await self.removed_before(suite))
        # First: no notice may be sent again, wherever this ends.
        await write_json(self._store, _removal_key(suite), before=latest)
        await self._deletable.delete(*(_key(suite, each) for each in ids))


def _prefix(suite: str) -> str:
    return f"suites/{suite}/notices/"


def _removal_key(suite: str) -> str:
    return f"suites/{suite}/told.json"


def _reopened_key(suite: str) -> str:
    return f"suites/{suite}/reopened.json"


def _key(suite: str, notice: str) -> str:
    return f"{_prefix(suite)}{notice}.json"


def _data(record: NoticeRecord) -> bytes:
    return canonical_json({"schema": SCHEMA, **record.to_json()})


def in_order(records: Iterable[NoticeRecord]) -> list[NoticeRecord]:
    """Sort by time; those of one time in the order of an entry's states."""
    return sorted(records, key=_order)


def _order(record: NoticeRecord) -> tuple[str, int, str]:
    return record.notice.time, list(NoticeKind).index(record.notice.kind), record.notice.id
