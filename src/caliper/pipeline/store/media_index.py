"""The media in the store: their keys by the paths that datasets name, and their bytes."""

from __future__ import annotations

import asyncio
import hashlib

from cachetools import LRUCache

from caliper.core.errors import DataLoss
from caliper.core.run import RunSpec
from caliper.pipeline.store.runs import read_json
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore


async def read_medium(store: ObjectStore, key: str, most: int) -> bytes | None:
    """The bytes of a picture or clip by its key; None if it is not there.

    Raises DataLoss if they are not those that were pushed, InvalidInput if they are more than
    `most`, StoreUnavailable.
    """
    data = await store.get(key, most)
    if data is not None:
        await asyncio.to_thread(check_medium, key, data)
    return data


def check_medium(key: str, data: bytes) -> None:
    """Raise DataLoss if these are not the bytes that were pushed under a key."""
    if key != f"media/{hashlib.sha256(data).hexdigest()}":
        raise DataLoss("not the bytes that were pushed", file=key)


class MediaIndex:
    """Finds the keys of media. Caches the index of the `capacity` most recently used datasets.

    Media may be pushed at any time, so the index is read again for a missing path, at most every
    `fresh` seconds.
    """

    def __init__(
        self, store: ObjectStore, clock: Clock, capacity: int = 2, fresh: float = 5.0
    ) -> None:
        self._store, self._clock, self._fresh = store, clock, fresh
        self._indices: LRUCache[str, tuple[float, dict[str, str]]] = LRUCache(capacity)
        self._lock = asyncio.Lock()

    async def key(self, data: str, path: str) -> str | None:
        """The key of the medium that dataset `data` names `path`; None if it was not pushed.

        Raises DataLoss, StoreUnavailable.
        """
        async with self._lock:
            now = self._clock.monotonic()
            when, digests = self._indices.get(data, (now, None))
            if digests is None or (path not in digests and now - when >= self._fresh):
                digests = await self._read(f"datasets/{data}/media.json")
                self._indices[data] = (now, digests)
            return f"media/{digests[path]}" if path in digests else None

    async def _read(self, key: str) -> dict[str, str]:
        index = await read_json(self._store, key)
        try:
            return dict(index["media"]) if index else {}
        except (KeyError, TypeError, ValueError) as error:
            raise DataLoss(f"no media by their paths: {error!r}", file=key) from error

    async def has(self, spec: RunSpec, name: str, path: str) -> bool:
        """Whether a benchmark's medium was pushed. Raises StoreUnavailable."""
        return await self.key(spec.benchmark(name).data, path) is not None
