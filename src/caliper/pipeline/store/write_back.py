"""A store that holds on to what it could not write, so that nobody has to make it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from cachetools import LRUCache

from caliper.core.errors import StoreUnavailable
from caliper.ports.storage import ObjectStore


class WriteBackBuffer:
    """ports.storage.ObjectStore over `store`, for replies of models while it is full or away.

    Who is told that a write failed tries the whole job again, and begins by reading: what was
    not written then is written first. So a job that comes again either finds the replies that
    it had, or fails before a model is asked for them once more. At most `capacity` objects are
    held, the oldest let go: as many as there are jobs in flight are ever needed.
    """

    def __init__(self, store: ObjectStore, capacity: int = 4096) -> None:
        self._store = store
        self._held: LRUCache[str, bytes] = LRUCache(capacity)

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store `data`. Raises StoreUnavailable or StoreFull; bytes are then held."""
        try:
            await self._store.put(key, data)
        except StoreUnavailable:
            if isinstance(data, Path):
                raise
            self._held[key] = data
            raise
        self._held.pop(key, None)

    async def get(self, key: str, most: int | None = None) -> bytes | None:
        """At most so many bytes under `key`. Raises as the port says, and StoreFull for what is
        held.
        """
        if key in self._held:
            await self.put(key, self._held[key])
        return await self._store.get(key, most)

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes under `key` to a file; False when there are none. Raises as `get`."""
        if key in self._held:
            await self.put(key, self._held[key])
        return await self._store.get_file(key, file)

    def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys under a prefix that are in the store. Raises StoreUnavailable."""
        return self._store.list(prefix)
