"""Packs: many replies in one object, since one object per reply would make millions.

    packs/<stamp>-<token>-<count>.pack   signature, `count` rows sorted by key, compressed data

Packs are immutable. A row has the first half of a reply's key, its generation (`pack_store`), and
the position of its data. Of several rows of a key, the highest generation counts, then the newest
pack. A reader lists packs at most every `FRESH` seconds, but knows its own at once. It keeps the
rows of all small packs, and of the large ones used last.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import accumulate

from cachetools import LRUCache

from caliper.core.errors import StoreFull
from caliper.pipeline.store.decompression import inflate
from caliper.pipeline.store.pack_rows import (
    ROW_BYTES,
    SIGNATURE,
    Frame,
    PackRow,
    all_rows,
    encode,
    search,
)
from caliper.ports.clock import Clock
from caliper.ports.storage import DeletableStore

_LOG = logging.getLogger(__name__)
FRESH = 2.0
PREFIX = "packs/"
_KEY = re.compile(r"(?:jobs|captions)/[0-9a-f]{2}/([0-9a-f]{32})[0-9a-f]{32}\.json", re.ASCII)
_NAME = re.compile(r"packs/([0-9a-f]{16})-[0-9a-f]{8}-(\d{1,9})\.pack", re.ASCII)
_SMALL_BYTES = 64 << 10
"""Bytes of rows of a small pack: two thousand replies."""
_MOST_SMALL = 8 << 20
"""Bytes of rows of all small packs: three hundred thousand replies, some 50 MiB."""
_CONCURRENCY = 8
_CACHED_BYTES = 64 << 20
"""Bytes of rows that a reader caches: two million replies. Older ones are not found."""


def pack_key(key: str) -> bytes | None:
    """The key of a reply within packs; None if objects of this key are not packed."""
    match = _KEY.fullmatch(key)
    return None if match is None else bytes.fromhex(match[1])


class Packs:
    """The packs of a store, as one reader knows them."""

    def __init__(
        self,
        store: DeletableStore,
        clock: Clock,
        cached: int = _CACHED_BYTES,
        small: int = _SMALL_BYTES,
        most_small: int = _MOST_SMALL,
    ) -> None:
        self._store, self._clock, self._small_bytes = store, clock, small
        self._most_small = most_small
        # All packs, and those not in `_small`.
        self._names: tuple[str, ...] = ()
        self._large: tuple[str, ...] = ()
        self._listed = -FRESH - 1
        # The rows of small packs, and the pack that counts for each of their keys.
        self._small: dict[str, bytes] = {}
        self._pack_of: dict[bytes, str] = {}
        # When this process wrote packs that its last list may have missed.
        self._written: dict[str, float] = {}
        self.has_loose = True
        self._rows: LRUCache[str, bytes] = LRUCache(cached, getsizeof=len)
        self._lock = asyncio.Lock()

    def is_fresh(self, since: float) -> bool:
        """Whether the list of packs is new enough to conclude that a key is in none: begun in the
        last seconds, or after `since`, as listing may take longer than that.
        """
        return self._listed >= min(since, self._clock.monotonic() - FRESH)

    async def names(self) -> tuple[str, ...]:
        """The packs, newest first. Raises StoreUnavailable."""
        since = self._clock.monotonic()
        async with self._lock:
            if not self.is_fresh(since):
                await self._list()
        return self._names

    async def _list(self) -> None:
        listed = self._clock.monotonic()
        self.has_loose = await self._has("jobs/") or await self._has("captions/")
        names = {key async for key in self._store.list(PREFIX) if _NAME.fullmatch(key)}
        self._written = {name: when for name, when in self._written.items() if when >= listed}
        names |= self._written.keys()
        small = self._newest_small(names)
        for name in self._small.keys() - small:
            self._forget(name)
        new = sorted(small - self._small.keys())
        for first in range(0, len(new), _CONCURRENCY):
            some = new[first : first + _CONCURRENCY]
            rows_of_packs = await asyncio.gather(*map(self._read_rows, some))
            for name, rows in zip(some, rows_of_packs, strict=True):
                # One that is gone counts as large: a key that is in none is looked for again.
                if rows is not None and name not in self._small:
                    self._remember(name, rows)
        names |= self._written.keys()
        self._names, self._listed = tuple(sorted(names, reverse=True)), listed
        self._large = tuple(name for name in self._names if name not in self._small)

    def _newest_small(self, names: Iterable[str]) -> set[str]:
        """The newest small packs. Older unmerged ones count as large."""
        small = [name for name in sorted(names, reverse=True) if self._is_small(name)]
        total = accumulate(map(_bytes_of_rows, small))
        return {name for name, size in zip(small, total, strict=True) if size <= self._most_small}

    def _is_small(self, name: str) -> bool:
        return _bytes_of_rows(name) <= self._small_bytes

    async def _has(self, prefix: str) -> bool:
        async for _ in self._store.list(prefix):
            return True
        return False

    def _remember(self, name: str, rows: bytes) -> None:
        """Keep the rows of a small pack."""
        self._small[name] = rows
        for row in all_rows(rows):
            previous = self._find_small(row.key)
            if previous is None or (previous[1].generation, previous[0]) <= (row.generation, name):
                self._pack_of[row.key] = name

    def _forget(self, name: str) -> None:
        for row in all_rows(self._small.pop(name)):
            if self._pack_of.get(row.key) == name:
                # Another pack with it is newer and large, or this reply was purged.
                del self._pack_of[row.key]

    def _find_small(self, key: bytes) -> tuple[str, PackRow] | None:
        name = self._pack_of.get(key)
        row = search(self._small[name], key) if name else None
        return (name, row) if name and row else None

    def expire(self) -> None:
        """List the packs again before the next use."""
        self._listed = -FRESH - 1

    async def find(self, key: bytes) -> tuple[str, PackRow] | None:
        """The pack and row of a key, None if no pack has it. Raises StoreUnavailable."""
        await self.names()
        best, total = self._find_small(key), 0
        for name in self._large:
            total += _bytes_of_rows(name)
            if total > self._rows.maxsize:
                break
            row = search(await self.rows(name), key)
            if row and (best is None or (row.generation, name) > (best[1].generation, best[0])):
                best = name, row
        return best

    async def is_merged(self, name: str) -> bool:
        """Whether other packs have all replies of a pack. Raises StoreUnavailable."""
        for row in all_rows(await self.rows(name)):
            # Rows are in memory: without this, other tasks would wait for all of them.
            await asyncio.sleep(0)
            place = await self.find(row.key)
            if place is None or place[0] == name:
                return False
        return True

    async def read(self, name: str, row: PackRow) -> bytes | None:
        """The data of a row; empty, with a warning, if damaged; None if the pack is gone after a
        merge. Raises StoreUnavailable.
        """
        data = await self._store.get_range(name, row.first, row.length)
        try:
            return None if data is None else inflate(data)
        except ValueError as error:
            _LOG.warning("%s: a damaged reply is asked again: %s", name, error)
            return b""

    async def rows(self, name: str) -> bytes:
        """The rows of a pack; empty if it is gone, or damaged. Raises StoreUnavailable."""
        rows = self._small.get(name, self._rows.get(name))
        if rows is None and (rows := await self._read_rows(name)) is None:
            self.expire()
            return b""
        if name not in self._small and len(rows) <= self._rows.maxsize:
            self._rows[name] = rows
        return rows

    async def _read_rows(self, name: str) -> bytes | None:
        size = len(SIGNATURE) + _bytes_of_rows(name)
        head = await self._store.get_range(name, 0, size)
        rows = (head or b"").removeprefix(SIGNATURE)
        if head is None and await self._store.size(name) is None:
            return None
        if len(rows) == size - len(SIGNATURE):
            return rows
        _LOG.warning("%s: not a pack: its replies are asked again", name)
        return b""

    async def frames(self, name: str) -> list[Frame]:
        """All frames of a pack, in memory. Raises StoreUnavailable."""
        data = await self._store.get(name) or b""
        return [
            Frame(row.key, row.generation, data[row.first : row.first + row.length])
            for row in all_rows(await self.rows(name))
            if row.first + row.length <= len(data)
        ]

    async def size(self, name: str) -> int:
        """The bytes of a pack by its rows, 0 for a damaged one. Raises StoreUnavailable."""
        return max((row.first + row.length for row in all_rows(await self.rows(name))), default=0)

    async def write(self, frames: Iterable[Frame], now: datetime) -> str | None:
        """Write a pack, newer than all known ones, and return its name; None if there is nothing
        to write. Of frames with one key, the last of the highest generation stays. Raises
        StoreUnavailable or StoreFull.
        """
        newest: dict[bytes, Frame] = {}
        for frame in frames:
            if frame.key not in newest or frame.generation >= newest[frame.key].generation:
                newest[frame.key] = frame
        if not newest:
            return None
        match = _NAME.fullmatch(next(iter(await self.names()), ""))
        since = (now - datetime.fromtimestamp(0, UTC)).total_seconds()
        stamp = max(int(since * 1e6), int(match[1], 16) + 1 if match else 0)
        name = f"{PREFIX}{stamp:016x}-{secrets.token_hex(4)}-{len(newest)}.pack"
        rows, data = encode([newest[key] for key in sorted(newest)])
        await self._store.put(name, data)
        self._written[name] = self._clock.monotonic()
        if self._is_small(name):
            self._remember(name, rows)
        else:
            self._large = (name, *self._large)
        self._names = (name, *self._names)
        return name

    async def drop(self, keys: Iterable[str], now: datetime) -> None:
        """Remove the replies under these keys of the store. A pack that another process is merging
        may keep them, and so does a full store, whose runs can be removed nevertheless. Raises
        StoreUnavailable.
        """
        gone = {each for each in map(pack_key, keys) if each is not None}
        if gone:
            self.expire()
        for name in await self.names() if gone else ():
            # Rows are in memory: without this, other tasks would wait for all packs.
            await asyncio.sleep(0)
            if any(row.key in gone for row in all_rows(await self.rows(name))):
                rest = [each for each in await self.frames(name) if each.key not in gone]
                try:
                    await self.write(rest, now)
                except StoreFull as error:
                    _LOG.warning("%s keeps replies of a removed run: %s", name, error)
                    continue
                await self._store.delete(name)
                self._written.pop(name, None)
                self.expire()


def _bytes_of_rows(name: str) -> int:
    return ROW_BYTES * int(name.rpartition("-")[2].removesuffix(".pack"))
