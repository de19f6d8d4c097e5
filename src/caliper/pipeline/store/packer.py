"""Merges the small packs of a store.

Each step can be interrupted anywhere: the next packer finds merged packs that still exist.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from itertools import chain

from caliper.core.errors import CaliperError
from caliper.pipeline.store.pack_rows import Frame
from caliper.pipeline.store.pack_store import PackStore
from caliper.ports.clock import Clock

_LOG = logging.getLogger(__name__)
_PACK_BYTES = 8 << 20
_SMALL_BYTES = _PACK_BYTES // 2
_CONCURRENCY = 8
GRACE = 120.0


class Packer:
    """Merges packs of a store. One packer is enough; two do no harm. Fewer than `fewest` small
    packs stay as they are. Merged packs are deleted `grace` seconds later.
    """

    def __init__(
        self,
        store: PackStore,
        clock: Clock,
        pace: float = 60.0,
        fewest: int = 8,
        grace: float = GRACE,
    ) -> None:
        self._pace, self._fewest, self._grace = pace, fewest, grace
        self._whole, self._packs, self._clock = store.whole, store.packs, clock
        self._waiting: deque[tuple[float, Sequence[str]]] = deque()

    async def run(self) -> None:
        """Merge every `pace` seconds, forever. Failures are retried."""
        while True:
            await self._clock.sleep(self._pace)
            try:
                await self.sweep()
                await self.merge()
            except CaliperError as error:
                _LOG.warning("packs are merged later: %s", error)

    async def sweep(self) -> None:
        """Delete packs merged `grace` seconds ago. Raises StoreUnavailable."""
        while self._waiting and self._waiting[0][0] <= self._clock.monotonic():
            self._packs.expire()
            await self._whole.delete(*self._waiting[0][1])
            self._waiting.popleft()

    def _delete_later(self, names: Sequence[str]) -> None:
        if names:
            self._waiting.append((self._clock.monotonic() + self._grace, names))

    async def merge(self) -> None:
        """Merge small packs, oldest first, so that readers search few. Raises StoreUnavailable or
        StoreFull.
        """
        waiting = {key for _, some in self._waiting for key in some}
        names = [name for name in reversed(await self._packs.names()) if name not in waiting]
        sizes = {name: await self._packs.size(name) for name in names}
        small = deque(name for name in names if sizes[name] < _SMALL_BYTES)
        if len(small) >= self._fewest:
            # Merged by another or an interrupted packer.
            merged = [name for name in small if await self._packs.is_merged(name)]
            self._delete_later(merged)
            small = deque(name for name in small if name not in merged)
        while len(small) >= self._fewest:
            some = list[str]()
            while small and sum(sizes[name] for name in some) < _PACK_BYTES:
                some.append(small.popleft())
            await self._merge_some(some)

    async def _merge_some(self, names: Sequence[str]) -> None:
        frames = list[Frame]()
        for first in range(0, len(names), _CONCURRENCY):
            some = map(self._packs.frames, names[first : first + _CONCURRENCY])
            frames += chain.from_iterable(await asyncio.gather(*some))
        await self._packs.write(frames, self._clock.now())
        self._delete_later(names)
