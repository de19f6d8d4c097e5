"""A store whose replies are in packs of replies that came at about the same time.

A reply book that grew is the next generation of its key. Runs in one process store each reply as a
separate object, `<key>.json`: such a loose reply is used if no pack has its key.

Replies of other processes are found after at most `FRESH` seconds. A book that grows in two
processes within that time keeps the additions of one: the rest is asked again when needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from caliper.pipeline.store.group_commit import GroupCommit
from caliper.pipeline.store.marks import Marks, folder_of_marks
from caliper.pipeline.store.pack_rows import LAST_GENERATION, Frame
from caliper.pipeline.store.packs import Packs, pack_key
from caliper.pipeline.store.store_view import StoreView
from caliper.ports.clock import Clock
from caliper.ports.storage import DeletableStore, ObjectStore

_TRIES = 3
_BATCH = 1000


class PackStore(StoreView):
    """ports.storage.DeletableStore as a view of `whole`: `get`, `put`, `size` and `delete` take a
    reply for one object, wherever it is, as `put` and `list` do with a mark (`marks`).
    """

    def __init__(self, whole: DeletableStore, clock: Clock) -> None:
        self.whole, self.packs = whole, Packs(whole, clock)
        self._clock, self._marks = clock, Marks(whole, clock)
        self._frames = GroupCommit(self._write_frames, clock)

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        return self.whole, key

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes or the content of a file. Raises StoreUnavailable or StoreFull."""
        packed = pack_key(key)
        if data == b"" and folder_of_marks(key):
            await self._marks.put(key)
            return
        if packed is None:
            await self.whole.put(key, data)
            return
        place = await self.packs.find(packed)
        # With the last number, the newest pack counts.
        generation = 0 if place is None else min(place[1].generation + 1, LAST_GENERATION)
        content = data if isinstance(data, bytes) else await asyncio.to_thread(data.read_bytes)
        await self._frames.add(Frame.of(packed, generation, content))

    async def _write_frames(self, frames: Sequence[Frame]) -> None:
        await self.packs.write(frames, self._clock.now())

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """Read at most `max_bytes` bytes under `key`. Raises what the port raises."""
        packed = pack_key(key)
        if packed is None:
            return await self.whole.get(key, max_bytes)
        newest: bytes | None = None
        for _ in range(_TRIES):
            since = self._clock.monotonic()
            place = await self.packs.find(packed)
            newest = None if place is None else await self.packs.read(*place)
            if place is not None and newest is None:
                self.packs.expire()
            elif self.packs.is_fresh(since):
                break
        if newest is None and self.packs.has_loose:
            return await self.whole.get(key, max_bytes)
        return newest

    async def size(self, key: str) -> int | None:
        """The bytes under `key`, compressed if packed. Raises StoreUnavailable."""
        packed = pack_key(key)
        place = await self.packs.find(packed) if packed else None
        return await self.whole.size(key) if place is None else place[1].length

    async def delete(self, *keys: str) -> None:
        """Delete these keys in order: an interruption leaves the last ones. Then rewrite packs
        without them. Raises StoreUnavailable.
        """
        for first in range(0, len(keys), _BATCH):
            await self.whole.delete(*keys[first : first + _BATCH])
        await self.packs.drop(keys, self._clock.now())

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        """Some bytes of an object. Raises StoreUnavailable."""
        return await self.whole.get_range(key, first, length)

    def list(self, prefix: str) -> AsyncIterator[str]:
        """List the objects under a prefix, or the marks in a folder of them. Raises
        StoreUnavailable.
        """
        return (self._marks if folder_of_marks(prefix) else self.whole).list(prefix)
