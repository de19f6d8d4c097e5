"""Decoding off the event loop: a few threads, and each file once."""

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
    """Threads that decode, and the images that they made last.

    Pillow and FFmpeg let go of the interpreter while they work, so threads use as many cores
    as processes would, without their memory. At most twice as many files as there are threads
    are open or in memory: who comes later waits. A file that is asked for again while it is
    decoded, or kept, is not decoded again.
    """

    def __init__(self, options: DecoderOptions | None = None) -> None:
        options = options or DecoderOptions()
        self.limits = options.limits
        self._threads = ThreadPoolExecutor(options.workers, thread_name_prefix="caliper-media")
        self._places = asyncio.Semaphore(2 * options.workers)
        self._shelf: LRUCache[Hashable, tuple[Image, ...]] = LRUCache(options.cache_bytes, _size)
        self._under_way: dict[Hashable, asyncio.Task[tuple[Image, ...]]] = {}

    async def images(
        self, key: Hashable, make: Callable[[], Awaitable[list[Image]]]
    ) -> tuple[Image, ...]:
        """The images that stand for `key`: kept ones, those that are being made, or what
        `make` gives, which is called when there is room.

        Raises what `make` raises; a failure is not kept. Who stops waiting stops nobody else.
        """
        kept = self._shelf.get(key)
        if kept is not None:
            return kept
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._make(key, make))
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._done(key, done))
        return await asyncio.shield(task)

    async def run(self, work: Callable[[], Result]) -> Result:
        """What `work` gives, done in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def close(self) -> None:
        """Stop: what is waiting is given up, what is being decoded ends by itself."""
        for task in self._under_way.values():
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _make(
        self, key: Hashable, make: Callable[[], Awaitable[list[Image]]]
    ) -> tuple[Image, ...]:
        async with self._places:
            images = tuple(await make())
        if _size(images) <= self._shelf.maxsize:
            self._shelf[key] = images
        return images

    def _done(self, key: Hashable, task: asyncio.Task[tuple[Image, ...]]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            # Seen, even where everybody who waited has gone.
            task.exception()


def _size(images: tuple[Image, ...]) -> int:
    return sum(len(image.data) for image in images)
