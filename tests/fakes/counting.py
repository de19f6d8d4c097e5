from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from caliper.ports.storage import DeletableStore


class CountingStore:
    """Wraps a store and records every call: operation and first part of the key."""

    def __init__(self, store: DeletableStore) -> None:
        self._store = store
        self.calls: list[tuple[str, str]] = []

    async def put(self, key: str, data: bytes | Path) -> None:
        self.calls.append(("PUT", key))
        await self._store.put(key, data)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        self.calls.append(("GET", key))
        return await self._store.get(key, max_bytes)

    async def version(self, key: str) -> str | None:
        self.calls.append(("HEAD", key))
        return await self._store.version(key)

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        self.calls.append(("PUT", key))
        return await self._store.replace(key, data, version)

    async def get_file(self, key: str, file: Path) -> bool:
        self.calls.append(("GET", key))
        return await self._store.get_file(key, file)

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        self.calls.append(("GET", key))
        return await self._store.get_range(key, first, length)

    async def size(self, key: str) -> int | None:
        self.calls.append(("HEAD", key))
        return await self._store.size(key)

    async def delete(self, *keys: str) -> None:
        self.calls.extend(("DELETE", key) for key in keys)
        await self._store.delete(*keys)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        self.calls.append(("LIST", prefix))
        async for key in self._store.list(prefix):
            yield key

    def most(self, method: str, before: str) -> int:
        """The highest count of an operation on any one key with a prefix."""
        found = Counter(key for how, key in self.calls if how == method and key.startswith(before))
        return max(found.values(), default=0)

    def count(self, method: str, before: str) -> int:
        return sum(how == method and key.startswith(before) for how, key in self.calls)
