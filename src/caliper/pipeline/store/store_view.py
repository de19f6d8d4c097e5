"""Views of stores: objects under other keys, or of several stores as one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path

from caliper.ports.storage import ObjectStore


class StoreView(ABC):
    """A ports.storage.ObjectStore whose objects are in other stores. Methods raise what the methods
    of the store with the object raise.
    """

    @abstractmethod
    def _place(self, key: str) -> tuple[ObjectStore, str]:
        """The store that has an object, or all objects with a prefix, and its key there."""

    async def put(self, key: str, data: bytes | Path) -> None:
        store, place = self._place(key)
        await store.put(place, data)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        store, place = self._place(key)
        return await store.get(place, max_bytes)

    async def version(self, key: str) -> str | None:
        store, place = self._place(key)
        return await store.version(place)

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        store, place = self._place(key)
        return await store.replace(place, data, version)

    async def get_file(self, key: str, file: Path) -> bool:
        store, place = self._place(key)
        return await store.get_file(place, file)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        store, place = self._place(prefix)
        async for key in store.list(place):
            yield prefix + key.removeprefix(place)


class KeyPrefix(StoreView):
    """The objects of `store` whose keys begin with `prefix/`.

    Code for one run thus uses keys such as `plan/...`, wherever the run itself is stored.
    """

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store = store
        self._prefix = f"{prefix}/"

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        return self._store, self._prefix + key
