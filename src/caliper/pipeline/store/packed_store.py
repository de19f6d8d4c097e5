"""A store whose replies are loose objects at first, and later in packs.

A loose object is created, and never written again: a reply book that grew is the next generation
of its key, `<key>.json`, `<key>.1.json` and so on. A packed generation is never created again, as
who writes knows all packs but those of the last `FRESH` seconds; the packer deletes loose objects
only minutes after their pack appeared. So whatever a pack replaces is in it, and whoever
misses a loose object finds the pack. Clocks of two machines are never compared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import chain
from pathlib import Path

from caliper.pipeline.store.packs import Packs, pack_key
from caliper.ports.clock import Clock
from caliper.ports.storage import DeletableStore

_TRIES = 3
_BATCH = 1000


def generation_key(key: str, generation: int) -> str:
    """The key of the loose object that holds a generation of a reply."""
    return f"{key.removesuffix('.json')}.{generation}.json" if generation else key


class PackedStore:
    """ports.storage.DeletableStore over `whole`: `get`, `put`, `size` and `delete` take a reply for
    one object, wherever it is. All else is about the objects of `whole`.
    """

    def __init__(self, whole: DeletableStore, clock: Clock) -> None:
        self.whole, self.packs = whole, Packs(whole, clock)
        self._clock = clock

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes or the content of a file. Raises StoreUnavailable or StoreFull."""
        packed = pack_key(key)
        if packed is None:
            await self.whole.put(key, data)
            return
        generation = await self._first_loose(packed)
        while await self.whole.replace(generation_key(key, generation), data, None) is None:
            generation += 1

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """Read at most `max_bytes` bytes under `key`. Raises what the port raises."""
        packed = pack_key(key)
        if packed is None:
            return await self.whole.get(key, max_bytes)
        newest: bytes | None = None
        for _ in range(_TRIES):
            generation, newest = await self._first_loose(packed), None
            while (data := await self._loose(key, generation, max_bytes)) is not None:
                generation, newest = generation + 1, data
            place = await self.packs.find(packed) if newest is None else None
            if place is not None:
                newest = await self.packs.read(*place)
            if place is not None and newest is None:
                self.packs.expire()
            elif self.packs.is_fresh:
                break
        return newest

    async def size(self, key: str) -> int | None:
        """The bytes under `key`, compressed if packed. Raises StoreUnavailable."""
        packed = pack_key(key)
        place = await self.packs.find(packed) if packed else None
        sizes = await self._loose_sizes(key, packed)
        if sizes or place is None:
            return sum(sizes) if sizes else None
        return place[1].length

    async def delete(self, *keys: str) -> None:
        """Delete these keys, in turns: if it is interrupted, the last ones are left. Then packs are
        written anew without them. Raises StoreUnavailable.
        """
        for first in range(0, len(keys), _BATCH):
            some = await asyncio.gather(*map(self._objects, keys[first : first + _BATCH]))
            await self.whole.delete(*chain.from_iterable(some))
        await self.packs.drop(keys, self._clock.now())

    async def version(self, key: str) -> str | None:
        """The version of an object. Raises StoreUnavailable."""
        return await self.whole.version(key)

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        """Store `data` if the object has this version. Raises what the port raises."""
        return await self.whole.replace(key, data, version)

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes of an object to a file. Returns False if it does not exist."""
        return await self.whole.get_file(key, file)

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        """Some bytes of an object. Raises StoreUnavailable."""
        return await self.whole.get_range(key, first, length)

    def list(self, prefix: str) -> AsyncIterator[str]:
        """List the objects under a prefix. Raises StoreUnavailable."""
        return self.whole.list(prefix)

    async def _objects(self, key: str) -> Sequence[str]:
        """The objects of a key, the newest generation first."""
        packed = pack_key(key)
        if packed is None:
            return (key,)
        count = await self._first_loose(packed) + len(await self._loose_sizes(key, packed))
        return [generation_key(key, each) for each in reversed(range(count))]

    async def _first_loose(self, packed: bytes) -> int:
        """The first generation that is not packed."""
        place = await self.packs.find(packed)
        return 0 if place is None else place[1].generation + 1

    async def _loose(self, key: str, generation: int, max_bytes: int | None) -> bytes | None:
        return await self.whole.get(generation_key(key, generation), max_bytes)

    async def _loose_sizes(self, key: str, packed: bytes | None) -> Sequence[int]:
        """The sizes of all generations that are not packed, or of an object that never is."""
        sizes: list[int] = []
        generation = await self._first_loose(packed) if packed else 0
        while (size := await self.whole.size(generation_key(key, generation))) is not None:
            sizes.append(size)
            generation += 1
            if packed is None:
                break
        return sizes
