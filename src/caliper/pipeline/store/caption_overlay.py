"""A store of captions for work on something that is no run of the store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from caliper.ports.storage import ObjectStore

_CAPTIONS = "captions/"


class CaptionOverlay:
    """ports.storage.ObjectStore whose captions are those of `store`, and all else is in `own`."""

    def __init__(self, store: ObjectStore, own: ObjectStore) -> None:
        self._store, self._own = store, own

    def _of(self, key: str) -> ObjectStore:
        return self._store if key.startswith(_CAPTIONS) else self._own

    async def put(self, key: str, data: bytes | Path) -> None:
        await self._of(key).put(key, data)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        return await self._of(key).get(key, max_bytes)

    async def version(self, key: str) -> str | None:
        """The version of a key. Raises StoreUnavailable."""
        return await self._of(key).version(key)

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        """Store `data` if `key` still has this version. Raises what the port raises."""
        return await self._of(key).replace(key, data, version)

    async def get_file(self, key: str, file: Path) -> bool:
        return await self._of(key).get_file(key, file)

    def list(self, prefix: str) -> AsyncIterator[str]:
        """List the keys under a prefix in order. Raises StoreUnavailable."""
        return self._of(prefix).list(prefix)
