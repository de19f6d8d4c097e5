"""A part of an object store, as a store of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from caliper.ports.storage import ObjectStore


class KeyPrefix:
    """ports.storage.ObjectStore over the objects of `store` whose keys begin with `prefix/`.

    So planning keeps its plan under `plan/`, wherever the run itself is kept.
    """

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store = store
        self._before = f"{prefix}/"

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes or a file's content. Raises StoreUnavailable or StoreFull."""
        await self._store.put(self._before + key, data)

    async def get(self, key: str, most: int | None = None) -> bytes | None:
        """At most so many bytes under `key`. Raises as the port says."""
        return await self._store.get(self._before + key, most)

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes under `key` to a file; False when there are none."""
        return await self._store.get_file(self._before + key, file)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys under a prefix, in order. Raises StoreUnavailable."""
        async for key in self._store.list(self._before + prefix):
            yield key.removeprefix(self._before)
