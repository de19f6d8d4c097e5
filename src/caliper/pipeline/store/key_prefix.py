"""The part of a store whose keys begin with a prefix."""

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
        await self._store.put(self._prefix + key, data)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        return await self._store.get(self._prefix + key, max_bytes)

    async def version(self, key: str) -> str | None:
        """The version of a key. Raises StoreUnavailable."""
        return await self._store.version(self._prefix + key)

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        """Store `data` if `key` still has this version. Raises what the port raises."""
        return await self._store.replace(self._prefix + key, data, version)

    async def get_file(self, key: str, file: Path) -> bool:
        return await self._store.get_file(self._prefix + key, file)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        async for key in self._store.list(self._prefix + prefix):
            yield key.removeprefix(self._prefix)
