"""The media in the store: their keys by the paths that datasets name, and their bytes."""

from __future__ import annotations

import asyncio
import hashlib

from cachetools import LRUCache

from caliper.core.errors import DataLoss
from caliper.core.keys import digest
from caliper.core.run import RunSpec
from caliper.pipeline.store.runs import read_json
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore


async def read_medium(store: ObjectStore, key: str, most: int) -> bytes | None:
    """The bytes of a picture or clip by its key; None if it does not exist.

    Raises DataLoss if they differ from those pushed, InvalidInput if they are more than `most`,
    StoreUnavailable.
    """
    data = await store.get(key, most)
    if data is not None:
        await asyncio.to_thread(check_medium, key, data)
    return data


def check_medium(key: str, data: bytes) -> None:
    """Raise DataLoss if these are not the bytes pushed under a key."""
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

    async def key(self, data: str, path: str, listing: str = "") -> str | None:
        """The key of the medium that dataset `data` names `path`; None if it was not pushed.
        `listing` is the digest of the listing to search, empty for the shared one.

        Raises DataLoss, StoreUnavailable.
        """
        async with self._lock:
            now = self._clock.monotonic()
            place = listing_key(data, listing)
            when, digests = self._indices.get(place, (now, None))
            if digests is None or (path not in digests and now - when >= self._fresh):
                digests = await self._read(place)
                if listing and await asyncio.to_thread(digest, digests) != listing:
                    raise DataLoss("not the media that the run began with", file=place)
                self._indices[place] = (now, digests)
            return f"media/{digests[path]}" if path in digests else None

    async def _read(self, key: str) -> dict[str, str]:
        index = await read_json(self._store, key)
        try:
            return dict(index["media"]) if index else {}
        except (KeyError, TypeError, ValueError) as error:
            raise DataLoss(f"not media by path: {error!r}", file=key) from error

    async def has(self, spec: RunSpec, name: str, path: str) -> bool:
        """Whether a benchmark's medium was pushed. Raises StoreUnavailable."""
        part = spec.benchmark(name)
        return await self.key(part.data, path, part.media) is not None


def listing_key(data: str, listing: str) -> str:
    """The key of a dataset's media by path: the shared ones if the digest `listing` is empty."""
    return f"datasets/{data}/media/{listing}.json" if listing else f"datasets/{data}/media.json"
