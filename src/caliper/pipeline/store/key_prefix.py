"""A view of an object store, limited to one key prefix."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from caliper.ports.storage import ObjectStore


class KeyPrefix:
    """ports.storage.ObjectStore over the objects of `store` whose keys begin with `prefix/`.

    Code for one run thus uses keys such as `plan/...`, wherever the run itself is stored.
    """

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store = store
        self._prefix = f"{prefix}/"

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes or the content of a file. Raises StoreUnavailable or StoreFull."""
        await self._store.put(self._prefix + key, data)

    async def get(self, key: str, most: int | None = None) -> bytes | None:
        """Read at most `most` bytes under `key`. Raises what the port raises."""
        return await self._store.get(self._prefix + key, most)

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes under `key` to a file. Returns False if the key does not exist."""
        return await self._store.get_file(self._prefix + key, file)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """List the keys under a prefix in order. Raises StoreUnavailable."""
        async for key in self._store.list(self._prefix + prefix):
            yield key.removeprefix(self._prefix)
