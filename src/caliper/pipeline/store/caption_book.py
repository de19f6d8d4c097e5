"""The captions of single samples, for whoever looks at verdicts about them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from cachetools import LRUCache

from caliper.core.run import RunSpec
from caliper.pipeline.store.supplies import read_captions, written_caption
from caliper.ports.storage import ObjectStore

_HELD = 4


class CaptionBook:
    """Captions out of a store, with the uploads that were read last at hand, in files."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._held: LRUCache[str, Mapping[str, str]] = LRUCache(_HELD)
        self._reading = asyncio.Lock()

    async def captions(
        self, spec: RunSpec, samples: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], str]:
        """Captions by (benchmark, sample), of those that have one.

        Raises InvalidInput when an upload is lost or broken, StoreUnavailable.
        """
        found = {}
        for name, sample in dict.fromkeys(samples):
            text = await self._caption(spec, name, sample)
            if text is not None:
                found[name, sample] = text
        return found

    async def _caption(self, spec: RunSpec, name: str, sample: str) -> str | None:
        uploaded = spec.benchmark(name).captions
        if uploaded is None:
            return await written_caption(self._store, spec.run_id, name, sample)
        return (await self._upload(uploaded)).get(sample)

    async def _upload(self, digest: str) -> Mapping[str, str]:
        async with self._reading:
            if digest not in self._held:
                self._held[digest] = await read_captions(self._store, digest)
            return self._held[digest]
