"""Recorded replies to questions about the media, for the runs of an installation."""

from __future__ import annotations

import asyncio

from cachetools import LRUCache

from caliper.core.errors import InvalidInput
from caliper.core.question import Source
from caliper.core.run import RunSpec, recorded_identity
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.store.supplies import fetch_dataset
from caliper.ports.models import Answerer
from caliper.ports.storage import ObjectStore
from caliper.wiring.models import ModelRoom


class Recordings:
    """The recordings in a store: datasets by revision.

    The `capacity` most recently used ones stay in memory.
    """

    def __init__(self, store: ObjectStore, capacity: int = 2) -> None:
        self._store = store
        self._answerers: LRUCache[str, Answerer] = LRUCache(capacity)
        self._reading = asyncio.Lock()

    async def answerer(self, spec: RunSpec, name: str) -> Answerer:
        """The answerer of a benchmark's questions about the media in a run.

        Raises InvalidInput when the run has none, and for recordings that are lost or not those of
        the run; StoreUnavailable.
        """
        media = spec.benchmark(name).models.get("media")
        if media is None or media != recorded_identity(media.revision):
            raise InvalidInput("only recorded replies answer questions from the media here")
        async with self._reading:
            if media.revision not in self._answerers:
                self._answerers[media.revision] = await self._read(name, media.revision)
            return self._answerers[media.revision]

    async def _read(self, name: str, revision: str) -> Answerer:
        with temporary_folder("caliper-recorded-") as folder:
            path = await fetch_dataset(self._store, revision, folder)
            try:
                answerer = await asyncio.to_thread(ModelRoom.replay, name, path, Source.MEDIA)
            except InvalidInput:
                # A single file, although the layout expects it in a folder.
                answerer = await asyncio.to_thread(ModelRoom.replay, name, folder, Source.MEDIA)
        if answerer.identity.revision != revision:
            raise InvalidInput("not the recorded replies of the run", file=revision)
        return answerer
