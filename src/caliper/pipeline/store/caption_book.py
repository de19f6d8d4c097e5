"""Looks up the captions of single samples, to show them next to their verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from cachetools import LRUCache

from caliper.core.run import RunSpec
from caliper.pipeline.store.supplies import read_caption, read_captions
from caliper.ports.storage import ObjectStore

_CACHED_UPLOADS = 4


class CaptionBook:
    """Reads captions from a store. Caches the most recently used uploads in temporary files."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._uploads: LRUCache[str, Mapping[str, str]] = LRUCache(_CACHED_UPLOADS)
        self._lock = asyncio.Lock()

    async def captions(
        self, spec: RunSpec, samples: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], str]:
        """Captions by (benchmark, sample). Samples without a caption are left out.

        Raises InvalidInput when an upload is lost or broken, StoreUnavailable.
        """
        captions = {}
        for name, sample in dict.fromkeys(samples):
            text = await self._caption(spec, name, sample)
            if text is not None:
                captions[name, sample] = text
        return captions

    async def _caption(self, spec: RunSpec, name: str, sample: str) -> str | None:
        digest = spec.benchmark(name).captions
        if digest is None:
            return await read_caption(self._store, spec.run_id, name, sample)
        return (await self._upload(digest)).get(sample)

    async def _upload(self, digest: str) -> Mapping[str, str]:
        async with self._lock:
            if digest not in self._uploads:
                self._uploads[digest] = await read_captions(self._store, digest)
            return self._uploads[digest]
