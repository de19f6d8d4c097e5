"""Pictures in memory for calls: how many bytes of them at once.

A slow endpoint answers later than media are decoded. Without a bound every job in flight would
hold what it is to show, and 64 clips of 768 frames are gigabytes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from caliper.pipeline.asking.answerer import Shown
from caliper.ports.media import Media
from caliper.ports.models import Image

MOST_HELD = 256 * 2**20
"""Bytes of encoded pictures in memory for calls, unless a setting says otherwise."""
_AT_ONCE = 4

Holds = Callable[[Iterable[Image]], None]
"""Says which pictures a place is for, once they are there."""


class MemoryLimit:
    """Places for samples whose pictures may be in memory; first come, first served.

    How large a sample is shows only when it is prepared: until then it counts like the largest
    so far, and no more than `at_once` are being prepared. So no more is held than `most` bytes
    and, where later samples are larger than all before, that many of them. What is larger than
    `most` by itself is held alone.
    """

    def __init__(self, most: int = MOST_HELD, at_once: int = _AT_ONCE) -> None:
        self._most, self._at_once = most, at_once
        self._held = self._places = self._preparing = self._largest = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Holds]:
        """Wait for a place, and leave it at the end."""
        await self._enter()
        size: int | None = None

        def holds(images: Iterable[Image]) -> None:
            nonlocal size
            size = sum(len(image.data) for image in images)
            self._preparing -= 1
            self._held += size
            self._largest = max(self._largest, size)
            self._wake()

        try:
            yield holds
        finally:
            self._leave(size)

    async def _enter(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._wake()
        try:
            await turn
        except asyncio.CancelledError:
            # One that was cancelled in the queue is passed over there.
            if not turn.cancelled():
                self._leave(None)
            raise

    def _leave(self, size: int | None) -> None:
        self._places -= 1
        if size is None:
            self._preparing -= 1
        else:
            self._held -= size
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._fits():
            turn = self._waiting.popleft()
            if not turn.done():
                self._places += 1
                self._preparing += 1
                turn.set_result(None)

    def _fits(self) -> bool:
        if not self._places:
            return True
        expected = self._held + (self._preparing + 1) * self._largest
        return self._preparing < self._at_once and expected <= self._most


@dataclass(frozen=True, slots=True)
class LimitedMedia:
    """What samples show, by benchmark, for as long as somebody looks at it; `holding` bounds how
    much of it all captioners of a process have in memory.
    """

    media: Mapping[str, Media]
    holding: MemoryLimit = field(default_factory=MemoryLimit)

    @asynccontextmanager
    async def shown(
        self, benchmark: str, wanted: Collection[tuple[str, ...]]
    ) -> AsyncIterator[Shown]:
        """The pictures of these media, once there is room for them. Raises MediaMissing,
        InvalidInput.
        """
        async with self.holding.place() as holds:
            found = {paths: await self.media[benchmark].images(paths) for paths in wanted}
            holds(image for images in found.values() for image in images)
            yield found
