"""Packs the loose replies of a store, and merges small packs.

Each step can be interrupted anywhere: the next packer finds what is packed and still there.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import chain, islice

from caliper.core.errors import CaliperError
from caliper.pipeline.store.pack_rows import Frame
from caliper.pipeline.store.packed_store import PackedStore, generation_key
from caliper.pipeline.store.packs import pack_key
from caliper.ports.clock import Clock

_LOG = logging.getLogger(__name__)
_LOOSE = re.compile(r"([^.]*)(?:\.(\d{1,9}))?\.json", re.ASCII)
_PACK_BYTES = 8 << 20
_SMALL_BYTES = _PACK_BYTES // 2
_CONCURRENCY = 8
GRACE = 120.0
_MOST = 20_000
"""Replies that one step packs: their keys are held until they are deleted."""


class Packer:
    """Packs replies of a store. One at a time is enough; two do no harm. Fewer than `fewest` loose
    replies, or small packs, stay as they are. What is packed is deleted `grace` seconds later.
    """

    def __init__(
        self,
        store: PackedStore,
        clock: Clock,
        pace: float = 60.0,
        fewest: int = 8,
        grace: float = GRACE,
    ) -> None:
        self._pace, self._fewest, self._grace = pace, fewest, grace
        self._whole, self._packs, self._clock = store.whole, store.packs, clock
        self._waiting: deque[tuple[float, Mapping[str, Sequence[int]]]] = deque()

    async def run(self) -> None:
        """Pack every `pace` seconds, for ever. What fails is tried again."""
        while True:
            await self._clock.sleep(self._pace)
            try:
                await self.sweep()
                await self.pack()
            except CaliperError as error:
                _LOG.warning("replies are packed later: %s", error)

    async def sweep(self) -> None:
        """Delete what was packed or merged `grace` seconds ago. Raises StoreUnavailable."""
        while self._waiting and self._waiting[0][0] <= self._clock.monotonic():
            await self._delete(self._waiting[0][1])
            self._waiting.popleft()

    async def pack(self) -> None:
        """Pack loose replies, a bounded number, and merge small packs. Raises StoreUnavailable or
        StoreFull.
        """
        await self._pack()
        await self._merge()

    async def _delete(self, replaced: Mapping[str, Sequence[int]]) -> None:
        names: list[str] = []
        self._packs.expire()
        for key, generations in replaced.items():
            # Rows are in memory: without it, other tasks would wait for all of them.
            await asyncio.sleep(0)
            packed = pack_key(key)
            place = await self._packs.find(packed) if packed else None
            # Otherwise it was purged from its pack, and may have been asked anew.
            if packed is None or (place and place[1].generation >= generations[-1]):
                names += [generation_key(key, each) for each in generations]
        await self._whole.delete(*names)

    def _delete_later(self, replaced: Mapping[str, Sequence[int]]) -> None:
        if replaced:
            self._waiting.append((self._clock.monotonic() + self._grace, replaced))

    async def _pack(self) -> None:
        waiting = {key: max(each) for _, some in self._waiting for key, each in some.items()}
        found, leftovers = dict[str, Sequence[int]](), dict[str, Sequence[int]]()
        async for packed, key, generations in self._loose():
            if waiting.get(key, -1) >= generations[-1]:
                continue
            await asyncio.sleep(0)
            is_packed = await self._is_packed(packed, key, generations[-1])
            (leftovers if is_packed else found)[key] = generations
            if len(found) + len(leftovers) >= _MOST:
                break
        self._delete_later(leftovers)
        rest = iter(found if len(found) >= self._fewest else ())
        while keys := await self._write(rest, found):
            self._delete_later({key: found[key] for key in keys})

    async def _is_packed(self, packed: bytes, key: str, generation: int) -> bool:
        """Whether a packer that was interrupted packed a loose reply. What is packed may be damaged
        since.
        """
        place = await self._packs.find(packed)
        if place is None or place[1].generation != generation:
            return place is not None and place[1].generation > generation
        loose = await self._whole.get(generation_key(key, generation))
        return await self._packs.read(*place) == loose

    async def _write(
        self, rest: Iterator[str], found: Mapping[str, Sequence[int]]
    ) -> Sequence[str]:
        """Write a pack of the next keys, and return them."""
        frames, keys, size = list[Frame](), list[str](), 0

        async def frame(key: str) -> Frame | None:
            data = await self._whole.get(generation_key(key, found[key][-1]))
            packed = pack_key(key)
            return None if data is None or not packed else Frame.of(packed, found[key][-1], data)

        while size < _PACK_BYTES and (some := list(islice(rest, _CONCURRENCY))):
            got = [each for each in await asyncio.gather(*map(frame, some)) if each is not None]
            frames += got
            keys += some
            size += sum(len(each.data) for each in got)
        await self._packs.write(frames, self._clock.now())
        return keys

    async def _loose(self) -> AsyncIterator[tuple[bytes, str, Sequence[int]]]:
        """The loose replies, each with its key in packs and its generations."""
        for prefix in ("captions/", "jobs/"):
            last, generations = "", list[int]()
            async for name in self._whole.list(prefix):
                match = _LOOSE.fullmatch(name)
                key = f"{match[1]}.json" if match else ""
                if key != last and generations:
                    yield pack_key(last) or b"", last, sorted(generations)
                    generations = []
                last = key
                if match and pack_key(key):
                    generations.append(int(match[2] or 0))
            if generations:
                yield pack_key(last) or b"", last, sorted(generations)

    async def _merge(self) -> None:
        """Merge small packs, oldest first, so that readers look into few."""
        waiting = {key for _, some in self._waiting for key in some}
        names = [name for name in reversed(await self._packs.names()) if name not in waiting]
        sizes = {name: await self._packs.size(name) for name in names}
        small = deque(name for name in names if sizes[name] < _SMALL_BYTES)
        if len(small) >= self._fewest:
            # Merged by another packer, or one that was interrupted.
            merged = [name for name in small if await self._packs.is_merged(name)]
            self._delete_later(dict.fromkeys(merged, (0,)))
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
        self._delete_later(dict.fromkeys(names, (0,)))
