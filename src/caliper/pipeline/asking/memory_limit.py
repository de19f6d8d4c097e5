"""A memory-bounded semaphore: limits the bytes of pictures held in memory for calls.

A slow endpoint answers more slowly than media are decoded. Without a bound, every job in flight
would hold its pictures, and 64 clips of 768 frames take gigabytes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from caliper.pipeline.asking.answerer import Pictures
from caliper.ports.media import Media
from caliper.ports.models import Image

MAX_PICTURE_BYTES = 256 * 2**20
"""The default limit on bytes of encoded pictures in memory for calls."""
_CONCURRENCY = 4

ReportPictures = Callable[[Iterable[Image]], None]
"""Reports the pictures that a place holds, once they are prepared."""


class MemoryLimit:
    """A semaphore over bytes: samples wait for a place in memory, first come, first served.

    The size of a sample is known only once it is prepared. Until then it counts as the largest
    so far, and at most `concurrency` samples are prepared concurrently. Memory thus stays below
    `max_bytes` bytes, plus up to `concurrency` samples if later ones are larger than all before. A
    sample larger than `max_bytes` is held alone.
    """

    def __init__(self, max_bytes: int = MAX_PICTURE_BYTES, concurrency: int = _CONCURRENCY) -> None:
        self._most, self._at_once = max_bytes, concurrency
        self._bytes = self._places = self._preparing = self._largest = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[ReportPictures]:
        """Wait for a place, and release it at the end of the context."""
        await self._enter()
        size: int | None = None

        def holds(images: Iterable[Image]) -> None:
            nonlocal size
            size = sum(len(image.data) for image in images)
            self._preparing -= 1
            self._bytes += size
            self._largest = max(self._largest, size)
            self._wake()

        try:
            yield holds
        finally:
            self._leave(size)

    async def _enter(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._wake()
        try:
            await turn
        except asyncio.CancelledError:
            # If the future itself was cancelled, `_wake` skips it in the queue.
            if not turn.cancelled():
                self._leave(None)
            raise

    def _leave(self, size: int | None) -> None:
        self._places -= 1
        if size is None:
            self._preparing -= 1
        else:
            self._bytes -= size
        self._wake()

    def _wake(self) -> None:
        while self._queue and self._fits():
            turn = self._queue.popleft()
            if not turn.done():
                self._places += 1
                self._preparing += 1
                turn.set_result(None)

    def _fits(self) -> bool:
        if not self._places:
            return True
        expected = self._bytes + (self._preparing + 1) * self._largest
        return self._preparing < self._at_once and expected <= self._most


@dataclass(frozen=True, slots=True)
class LimitedMedia:
    """Media, loaded within a memory limit. `limit` bounds the pictures that all captioners of a
    process have in memory.
    """

    media: Media
    limit: MemoryLimit = field(default_factory=MemoryLimit)

    @asynccontextmanager
    async def load(self, samples: Collection[tuple[str, ...]]) -> AsyncIterator[Pictures]:
        """Load the pictures of samples once there is room, and hold them for the context.

        A sample is a tuple of its media paths. Raises MediaMissing, InvalidInput.
        """
        async with self.limit.place() as holds:
            pictures = {paths: await self.media.images(paths) for paths in samples}
            holds(image for images in pictures.values() for image in images)
            yield pictures
