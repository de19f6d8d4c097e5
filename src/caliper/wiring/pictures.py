"""Thumbnails of media in the store, byte for byte those of the same media in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from threading import Lock

from caliper.adapters.media.bounds import CLIPS, MediaLimits
from caliper.adapters.media.thumbnails import Thumbnails
from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.store.media_index import MediaIndex, check_medium
from caliper.ports.storage import ObjectStore


class StoredPictures:
    """Creates thumbnails in a service, one at a time to bound memory. Media that were not pushed
    have none.
    """

    def __init__(self, store: ObjectStore, index: MediaIndex, limits: MediaLimits) -> None:
        self._store, self._index = store, index
        self._limits = limits.for_thumbnails()
        self._turn = Lock()

    def __call__(self, spec: RunSpec) -> Callable[[str, str], bytes | None]:
        """A function from a benchmark and the path of a medium to a thumbnail.

        Get it in the event loop, and call it from another thread. It returns the JPEG bytes of a
        picture, or of the middle frame of a clip; None without a thumbnail. Raises
        StoreUnavailable.
        """
        return partial(self._jpeg, spec, asyncio.get_running_loop())

    def _jpeg(
        self, spec: RunSpec, loop: asyncio.AbstractEventLoop, benchmark: str, path: str
    ) -> bytes | None:
        suffix = PurePosixPath(path).suffix.lower()
        limit = self._limits.most_bytes(clip=suffix in CLIPS)
        # Clips are opened by path, and recognised by the suffix.
        name = f"clip{suffix}" if suffix in CLIPS else "picture"
        with self._turn, temporary_folder("caliper-picture-") as folder:
            reading = self._data(spec.benchmark(benchmark), path, limit)
            key, data = asyncio.run_coroutine_threadsafe(reading, loop).result()
            if data is None:
                return None
            # In this thread: other callers may occupy all threads of the event loop.
            try:
                check_medium(key, data)
            except DataLoss:
                return None
            (folder / name).write_bytes(data)
            del data
            return Thumbnails(folder, self._limits).jpeg(name)

    async def _data(self, part: BenchmarkSpec, path: str, limit: int) -> tuple[str, bytes | None]:
        with suppress(InvalidInput):
            key = await self._index.key(part.data, path, part.media)
            if key is not None:
                return key, await self._store.get(key, limit)
        return "", None
