"""Thumbnails of media in the store, byte for byte those of the same media in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from caliper.adapters.media.bounds import CLIPS, MediaLimits
from caliper.adapters.media.thumbnails import Thumbnails
from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec
from caliper.pipeline.store.supplies import MediaIndex
from caliper.ports.storage import ObjectStore

_Result = TypeVar("_Result")


class StoredPictures:
    """Thumbnails for the page of a run; media that were not pushed have none.

    Create it in the event loop, and call it from another thread, one thumbnail at a time.
    """

    def __init__(self, store: ObjectStore, index: MediaIndex, spec: RunSpec) -> None:
        self._store, self._index, self._spec = store, index, spec
        self._limits = MediaLimits()
        self._loop = asyncio.get_running_loop()

    def __call__(self, benchmark: str, path: str) -> bytes | None:
        """JPEG bytes of a picture, or of the middle frame of a clip; None if it has none.

        Raises StoreUnavailable.
        """
        suffix = PurePosixPath(path).suffix.lower()
        limit = self._limits.most_bytes(clip=suffix in CLIPS)
        data = self._wait(self._data(benchmark, path, limit))
        if data is None:
            return None
        # Clips are opened by path, and recognised by the suffix.
        name = f"clip{suffix}" if suffix in CLIPS else "picture"
        with TemporaryDirectory(prefix="caliper-picture-") as folder:
            Path(folder, name).write_bytes(data)
            return Thumbnails(Path(folder), self._limits).jpeg(name)

    async def _data(self, benchmark: str, path: str, limit: int) -> bytes | None:
        with suppress(InvalidInput):
            key = await self._index.key(self._spec.benchmark(benchmark).data, path)
            return None if key is None else await self._store.get(key, limit)
        return None

    def _wait(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
