"""Looks up the captions of single samples, to show them next to their verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from cachetools import LRUCache

from caliper.core.question import Failure
from caliper.core.run import RunSpec
from caliper.pipeline.store.supplies import read_caption, read_supplied
from caliper.ports.storage import ObjectStore

_CACHED_UPLOADS = 4
_Upload = tuple[Mapping[str, str], Mapping[str, Failure]]


class CaptionBook:
    """Reads captions from a store. Caches the most recently used uploads in temporary files."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._uploads: LRUCache[str, _Upload] = LRUCache(_CACHED_UPLOADS)
        self._lock = asyncio.Lock()

    async def captions(
        self, spec: RunSpec, samples: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], str]:
        """Captions by (benchmark, sample). Samples without a caption are left out. Raises what
        `texts` raises.
        """
        texts = await self.texts(spec, samples)
        return {key: text for key, text in texts.items() if isinstance(text, str)}

    async def texts(
        self, spec: RunSpec, samples: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], str | Failure]:
        """Captions by (benchmark, sample), or why there is none. Samples with neither are left out.

        Raises InvalidInput when an upload is lost or broken, StoreUnavailable.
        """
        texts = {}
        for name, sample in dict.fromkeys(samples):
            text = await self._read(spec, name, sample)
            if text is not None:
                texts[name, sample] = text
        return texts

    async def _read(self, spec: RunSpec, name: str, sample: str) -> str | Failure | None:
        digest = spec.benchmark(name).captions
        if digest is None:
            return await read_caption(self._store, spec.run_id, name, sample)
        texts, lacking = await self._upload(digest)
        return texts.get(sample, lacking.get(sample))

    async def _upload(self, digest: str) -> _Upload:
        async with self._lock:
            if digest not in self._uploads:
                self._uploads[digest] = await read_supplied(self._store, digest)
            return self._uploads[digest]
