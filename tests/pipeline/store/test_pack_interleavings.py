"""No reply is lost in whatever order readers, writers and packers take turns, or die."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.packs import Installation, key, step
from tests.fakes.stores import MemoryStore

from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.packer import GRACE
from caliper.pipeline.store.packs import FRESH


class Stopping(MemoryStore):
    """A store of a process that is killed after some calls, which others go on using."""

    left = 1_000_000

    async def before(self, call: str, _: str) -> None:
        if call in ("put", "replace", "delete"):
            await asyncio.sleep(0)
            self.left -= 1
            if self.left < 0:
                raise asyncio.CancelledError


async def test_a_packer_that_dies_anywhere_loses_nothing() -> None:
    for calls in range(60):
        store = Stopping()
        there = Installation(store)
        await there.fill(range(20))
        await there.front.put(key(3), b"grown")
        store.left = calls
        try:
            await there.pack()
            died = False
        except asyncio.CancelledError:
            died = True
        store.left = 1_000_000
        expected = [b"grown" if each == 3 else f"jobs {each}".encode() for each in range(20)]
        assert [await there.another().get(key(each)) for each in range(20)] == expected
        there.packer = there.another_packer()
        await there.pack()
        assert [await there.another().get(key(each)) for each in range(20)] == expected
        if not died:
            return
    pytest.fail("it never came to its end")


class Hooked(MemoryStore):
    """A store where somebody else does something before the next read of a range."""

    hook: Callable[[], Awaitable[None]] | None = None

    async def before(self, call: str, _: str) -> None:
        if call == "get_range" and self.hook is not None:
            hook, self.hook = self.hook, None
            await hook()


async def test_a_pack_that_is_rewritten_between_its_list_and_its_rows_loses_nothing() -> None:
    there = Installation()
    await there.fill(range(20))
    await there.pack()
    store = Hooked(there.whole)
    store.hook = lambda: there.another().delete(key(2))
    reader = PackStore(store, there.clock)
    assert await reader.get(key(1)) == b"jobs 1"
    assert store.hook is None


class Yielding(MemoryStore):
    """A store whose calls take turns: each waits until the schedule lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: Callable[[], int] = lambda: 0

    async def before(self, call: str, _: str) -> None:
        if call in ("get", "replace", "put", "delete"):
            for _turn in range(self.turns()):
                await asyncio.sleep(0)


class Model:
    """Readers, writers and packers over one store, whose calls take turns at random. A writer may
    be paused for less than the time of grace, all others for any time. Of each book there is one
    writer at a time, and some seconds before the next one.
    """

    def __init__(self, seed: int) -> None:
        self._random, store = Random(seed), Yielding()
        self._there = Installation(store, fewest=2)
        self._fronts = [self._there.another() for _ in range(3)]
        self._packers = [self._there.another_packer() for _ in range(2)]
        self._packing: dict[int, asyncio.Task[None]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        # What each book had, and since when.
        self._saved = {number: [(-GRACE, 0)] for number in range(4)}
        self._writer = dict.fromkeys(range(4), (-GRACE, self._fronts[0]))
        self._busy: set[int] = set()
        self._writers = 0
        store.turns = lambda: self._random.randrange(6)

    async def run(self) -> None:
        for _ in range(100):
            self._random.choice(
                (self.grow, self.grow, self.read, self.wait, self.pack, self.move)
            )()
            for _ in range(self._random.randrange(6)):
                await asyncio.sleep(0)
        await asyncio.gather(*self._tasks)
        await self._check()
        await asyncio.gather(*self._packing.values(), return_exceptions=True)
        for _ in range(3):
            self._there.clock.seconds += GRACE
            await step(self._packers[0])
        await self._check()

    def grow(self) -> None:
        number = self._random.randrange(4)
        since, front = self._writer[number]
        if number not in self._busy and self._there.clock.seconds > since + FRESH:
            self._busy.add(number)
            self._tasks.append(asyncio.ensure_future(self._grow(front, number)))

    def move(self) -> None:
        """Give a book to another writer."""
        number = self._random.randrange(4)
        if number not in self._busy:
            front = self._random.choice(self._fronts)
            self._writer[number] = self._there.clock.seconds, front

    def read(self) -> None:
        front, number = self._random.choice(self._fronts), self._random.randrange(4)
        self._tasks.append(asyncio.ensure_future(self._read(front, number)))

    def wait(self) -> None:
        seconds = self._random.choice((1, FRESH / 2, FRESH, GRACE / 2, GRACE))
        self._there.clock.seconds += 1 if self._writers else seconds

    def pack(self) -> None:
        who = self._random.randrange(2)
        if who not in self._packing or self._packing[who].done():
            self._packing[who] = asyncio.ensure_future(step(self._packers[who]))
        elif self._random.random() < 0.3:
            self._packing.pop(who).cancel()
            self._packers[who] = self._there.another_packer()

    async def _grow(self, front: PackStore, number: int) -> None:
        found = int(await front.get(key(number)) or 0)
        assert found == self._saved[number][-1][1]
        self._writers += 1
        await front.put(key(number), str(found + 1).encode())
        self._writers -= 1
        self._saved[number].append((self._there.clock.seconds, found + 1))
        assert int(await front.get(key(number)) or 0) >= found + 1
        self._busy.discard(number)

    async def _read(self, front: PackStore, number: int) -> None:
        known = self._there.clock.seconds - FRESH
        least = max(value for since, value in self._saved[number] if since < known)
        assert int(await front.get(key(number)) or 0) >= least

    async def _check(self) -> None:
        for number, history in self._saved.items():
            found = await self._there.another().get(key(number))
            assert int(found or 0) == history[-1][1]


@given(seed=st.integers(0, 1 << 32))
def test_no_order_of_steps_loses_a_reply(seed: int) -> None:
    """A book only grows: no reader finds less than was saved seconds before it began."""
    asyncio.run(Model(seed).run())
