"""Decoding off the event loop: in a few threads, and each file once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cachetools import LRUCache

from caliper.adapters.media.bounds import DecoderOptions
from caliper.ports.models import Image

Result = TypeVar("Result")


class Decoders:
    """A thread pool for decoding, with an LRU cache of the decoded images.

    Pillow and FFmpeg release the GIL, so threads use as many cores as processes would, with
    less memory. At most two files per thread are open or in memory; further ones wait. A file
    that is cached, or being decoded, is not decoded again.
    """

    def __init__(self, options: DecoderOptions | None = None) -> None:
        options = options or DecoderOptions()
        self.limits = options.limits
        self._threads = ThreadPoolExecutor(options.workers, thread_name_prefix="caliper-media")
        self._places = asyncio.Semaphore(2 * options.workers)
        self._cache: LRUCache[Hashable, tuple[Image, ...]] = LRUCache(options.cache_bytes, _size)
        self._tasks: dict[Hashable, asyncio.Task[tuple[Image, ...]]] = {}

    async def images(
        self, key: Hashable, make: Callable[[], Awaitable[list[Image]]]
    ) -> tuple[Image, ...]:
        """The images for `key`: from the cache, from a decoding in progress, or from `make`.

        `make` is called when there is room. Raises what `make` raises; failures are not cached.
        Cancelling one caller does not affect the others.
        """
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        task = self._tasks.get(key)
        if task is None:
            task = asyncio.create_task(self._make(key, make))
            self._tasks[key] = task
            task.add_done_callback(lambda done: self._done(key, done))
        return await asyncio.shield(task)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run `work` in one of the threads and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def close(self) -> None:
        """Cancel waiting files; those being decoded end by themselves."""
        for task in self._tasks.values():
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _make(
        self, key: Hashable, make: Callable[[], Awaitable[list[Image]]]
    ) -> tuple[Image, ...]:
        async with self._places:
            images = tuple(await make())
        if _size(images) <= self._cache.maxsize:
            self._cache[key] = images
        return images

    def _done(self, key: Hashable, task: asyncio.Task[tuple[Image, ...]]) -> None:
        del self._tasks[key]
        if not task.cancelled():
            # Mark it as retrieved, even if all callers are gone.
            task.exception()


def _size(images: tuple[Image, ...]) -> int:
    return sum(len(image.data) for image in images)
