"""A write-back buffer over a store: failed writes are held and retried before the next read."""

from __future__ import annotations

from pathlib import Path

from cachetools import LRUCache

from caliper.core.errors import StoreUnavailable
from caliper.pipeline.store.store_view import StoreView
from caliper.ports.storage import ObjectStore


class WriteBackBuffer(StoreView):
    """A view of `store` for model replies, while it is full or unavailable.

    A job whose write failed is retried as a whole and begins with a read, which first writes the
    buffered data of that key, unless others have written it since. The retry thus either finds
    replies, or fails before the model is asked again. The buffer holds at most `capacity` objects
    and evicts the least recently used; it never needs more than there are jobs in flight. `replace`
    is not buffered, and `list` lists the store.
    """

    def __init__(self, store: ObjectStore, capacity: int = 4096) -> None:
        self._store = store
        self._buffer: LRUCache[str, bytes] = LRUCache(capacity)
        # Hashes of what is known to be stored: anything else is of others.
        self._known: LRUCache[str, int] = LRUCache(capacity)

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        return self._store, key

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store `data`. Raises StoreUnavailable or StoreFull; bytes are then buffered."""
        try:
            await self._store.put(key, data)
        except StoreUnavailable:
            if isinstance(data, Path):
                raise
            self._buffer[key] = data
            raise
        self._buffer.pop(key, None)
        if isinstance(data, bytes):
            self._known[key] = hash(data)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """Read at most `max_bytes` bytes under `key`, after writing its buffered data.

        Raises what the port raises, and StoreFull if the buffered write fails again.
        """
        data = await self._store.get(key, max_bytes)
        if (held := self._buffer.get(key)) is not None:
            if hash(data) == self._known.get(key, hash(None)):
                await self.put(key, held)
                data = await self._store.get(key, max_bytes)
            self._buffer.pop(key, None)
        self._known[key] = hash(data)
        return data

    async def version(self, key: str) -> str | None:
        """The version of a key, after writing its buffered data. Raises what `get` raises."""
        if key in self._buffer:
            await self.put(key, self._buffer[key])
        return await self._store.version(key)

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes under `key` to a file. Returns False if the key does not exist.

        Raises what `get` raises.
        """
        if key in self._buffer:
            await self.put(key, self._buffer[key])
        return await self._store.get_file(key, file)
