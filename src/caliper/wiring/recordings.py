"""Recorded replies to questions from the media, as runs of an installation use them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from cachetools import LRUCache

from caliper.core.errors import InvalidInput
from caliper.core.question import Source
from caliper.core.run import RunSpec, recorded
from caliper.pipeline.store.supplies import fetch_dataset
from caliper.ports.models import Answerer
from caliper.ports.storage import ObjectStore
from caliper.wiring.models import ModelRoom


class Recordings:
    """The recordings in a store, where each lies as a dataset under its revision. The last
    `capacity` of them are kept in memory.
    """

    def __init__(self, store: ObjectStore, capacity: int = 2) -> None:
        self._store = store
        self._held: LRUCache[str, Answerer] = LRUCache(capacity)
        self._reading = asyncio.Lock()

    async def answerer(self, spec: RunSpec, name: str) -> Answerer:
        """Who answers a benchmark's questions from the media in a run.

        Raises InvalidInput when nobody does, or for recordings that are lost or not those of
        the run; StoreUnavailable.
        """
        media = spec.benchmark(name).models.get("media")
        if media is None or media != recorded(media.revision):
            raise InvalidInput("only recorded replies answer questions from the media here")
        async with self._reading:
            if media.revision not in self._held:
                self._held[media.revision] = await self._read(name, media.revision)
            return self._held[media.revision]

    async def _read(self, name: str, revision: str) -> Answerer:
        with TemporaryDirectory(prefix="caliper-recorded-") as folder:
            place = await fetch_dataset(self._store, revision, Path(folder))
            found = await asyncio.to_thread(ModelRoom.replay, name, place, Source.MEDIA)
        if found.identity.revision != revision:
            raise InvalidInput("other recorded replies than those of the run", file=revision)
        return found
