"""Replies in packs: nothing is lost, whatever happens in which order, and few objects are left."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.core.errors import StoreFull
from caliper.core.keys import text_digest
from caliper.pipeline.store import packs
from caliper.pipeline.store.pack_rows import Frame
from caliper.pipeline.store.packed_store import PackedStore, generation_key
from caliper.pipeline.store.packer import GRACE, Packer
from caliper.pipeline.store.packs import FRESH, Packs, pack_key


def key(number: int, kind: str = "jobs") -> str:
    digest = text_digest(f"{kind} {number}")
    return f"{kind}/{digest[:2]}/{digest}.json"


async def step(packer: Packer) -> None:
    await packer.sweep()
    await packer.pack()


class Installation:
    """A store with a packer, and readers and writers that have their own views of its packs."""

    def __init__(self, store: MemoryStore | None = None, fewest: int = 8) -> None:
        self.whole, self.clock, self.fewest = store or MemoryStore(), FakeClock(), fewest
        self.packer = self.another_packer()
        self.front = self.another()

    def another(self) -> PackedStore:
        return PackedStore(self.whole, self.clock)

    def another_packer(self) -> Packer:
        return Packer(self.another(), self.clock, fewest=self.fewest)

    async def fill(self, numbers: range, kind: str = "jobs") -> None:
        for number in numbers:
            await self.front.put(key(number, kind), f"{kind} {number}".encode())

    async def fill_loose(self, numbers: range, kind: str = "jobs") -> None:
        """As earlier releases write replies."""
        for number in numbers:
            await self.put_loose(key(number, kind), f"{kind} {number}".encode())

    async def put_loose(self, name: str, data: bytes, generation: int = 0) -> None:
        assert await self.whole.replace(generation_key(name, generation), data, None)

    async def pack(self) -> None:
        await step(self.packer)
        self.clock.seconds += GRACE
        await step(self.packer)

    def count(self, prefix: str) -> int:
        return sum(each.startswith(prefix) for each in self.whole.objects)


@pytest.fixture
def there() -> Installation:
    return Installation()


async def test_replies_of_a_run_become_one_object(there: Installation) -> None:
    await there.fill(range(35))
    await there.fill(range(35), "captions")
    assert there.count("packs/") == len(there.whole.objects) == 70
    await there.pack()
    assert list(there.whole.objects) == list(await there.front.packs.names())
    assert len(there.whole.objects) == 1
    for front in (there.front, there.another()):
        for number in range(35):
            assert await front.get(key(number)) == f"jobs {number}".encode()
    assert await there.another().get(key(36)) is None
    assert await there.another().size(key(36)) is None
    assert await there.another().size(key(1)) is not None


async def test_replies_that_end_together_go_together(there: Installation) -> None:
    numbers = range(50)
    await asyncio.gather(*(there.front.put(key(each), str(each).encode()) for each in numbers))
    assert there.count("packs/") == len(there.whole.objects) == 1
    for front in (there.front, there.another()):
        assert [await front.get(key(each)) for each in numbers] == [b"%d" % n for n in numbers]


async def test_who_gives_up_takes_no_reply_of_others_along(there: Installation) -> None:
    one, other = (asyncio.ensure_future(there.front.put(key(each), b"x")) for each in range(2))
    await asyncio.sleep(0)
    one.cancel()
    await other
    assert await there.another().get(key(1)) == b"x"


async def test_replies_that_cannot_be_written_fail_and_are_written_later(
    there: Installation,
) -> None:
    there.whole.full = True
    puts = [there.front.put(key(each), b"x") for each in range(3)]
    failures = await asyncio.gather(*puts, return_exceptions=True)
    assert [type(each) for each in failures] == [StoreFull] * 3
    assert await there.front.get(key(1)) is None
    there.whole.full = False
    await there.front.put(key(1), b"x")
    assert await there.front.get(key(1)) == await there.another().get(key(1)) == b"x"


async def test_others_find_a_reply_within_seconds(there: Installation) -> None:
    other = there.another()
    assert await other.get(key(1)) is None
    await there.front.put(key(1), b"x")
    there.clock.seconds += FRESH + 1
    assert await other.get(key(1)) == b"x"


async def test_loose_replies_of_earlier_releases_are_found_and_packed(there: Installation) -> None:
    await there.fill_loose(range(20))
    await there.put_loose(key(3), b"grown", generation=1)
    expected = [b"grown" if each == 3 else b"jobs %d" % each for each in range(20)]
    for _ in range(2):
        for front in (there.front, there.another()):
            assert [await front.get(key(each)) for each in range(20)] == expected
        await there.pack()
    assert there.count("jobs/") == 0
    await there.front.put(key(3), b"more")
    assert await there.another().get(key(3)) == b"more"


async def test_a_loose_reply_that_grew_is_the_one_that_is_read(there: Installation) -> None:
    await there.fill_loose(range(20))
    await there.front.put(key(3), b"grown")
    for _ in range(2):
        for front in (there.front, there.another()):
            assert await front.get(key(3)) == b"grown"
        await there.pack()


async def test_few_replies_stay_as_they_are(there: Installation) -> None:
    await there.fill(range(3))
    await there.fill_loose(range(10, 13))
    await there.pack()
    assert (there.count("packs/"), there.count("jobs/")) == (3, 3)


async def test_many_packs_become_few(there: Installation) -> None:
    for first in range(0, 400, 10):
        await there.fill(range(first, first + 10))
        await there.pack()
    await there.pack()
    assert there.count("jobs/") == 0
    assert there.count("packs/") < 10
    for number in range(400):
        assert await there.another().get(key(number)) == f"jobs {number}".encode()


async def test_a_reply_book_that_grew_is_the_one_that_is_read(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    other = there.another()
    assert await other.get(key(3)) == b"jobs 3"
    await there.front.put(key(3), b"more")
    for _ in range(2):
        there.clock.seconds += FRESH + 1
        assert await other.get(key(3)) == b"more"
        await there.front.put(key(3), b"much more")
        assert await there.front.get(key(3)) == b"much more"
        await there.fill(range(30, 50))
        await there.pack()
        assert there.count("jobs/") == 0
        assert await there.another().get(key(3)) == b"much more"
        await there.front.put(key(3), b"more")


async def test_other_objects_are_never_packed(there: Installation) -> None:
    others = {"runs/1/spec.json": b"1", "jobs/ab/c.json": b"2", "jobs/ab/x.y.json": b"3"}
    for name, data in others.items():
        await there.front.put(name, data)
    await there.fill(range(20))
    await there.pack()
    assert others.items() <= there.whole.objects.items()
    assert [await there.front.get(name) for name in others] == list(others.values())


async def test_deleted_replies_are_gone_and_others_stay(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    await there.fill(range(20, 25))
    await there.front.put(key(1), b"grown")
    await there.front.delete(key(1), key(2), key(21), "jobs/none")
    for front in (there.front, there.another()):
        found = {number for number in range(25) if await front.get(key(number)) is not None}
        assert found == set(range(25)) - {1, 2, 21}
    await there.front.delete(*(key(number) for number in range(25)))
    assert not there.whole.objects


async def test_a_full_store_lets_runs_go(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    await there.front.put("runs/1/spec.json", b"1")
    there.whole.full = True
    await there.front.delete(key(1), "runs/1/spec.json")
    assert list(there.whole.objects) == list(await there.front.packs.names())
    there.whole.full = False
    await there.front.delete(key(1))
    assert await there.another().get(key(1)) is None


async def test_what_was_purged_and_asked_again_is_not_deleted(there: Installation) -> None:
    await there.fill(range(20))
    await step(there.packer)
    await there.another().delete(key(3))
    await there.another().put(key(3), b"asked anew")
    there.clock.seconds += GRACE
    await step(there.packer)
    assert await there.another().get(key(3)) == b"asked anew"


async def test_a_pack_that_is_gone_is_looked_for_again(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    reader = there.another()
    await reader.get(key(1))
    (name,) = await reader.packs.names()
    await there.another().delete(key(2))
    assert name not in there.whole.objects
    assert await reader.get(key(1)) == b"jobs 1"


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
async def test_a_damaged_pack_heals(
    there: Installation, damage: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    await there.fill(range(20))
    await there.pack()
    (name,) = there.whole.objects
    data = there.whole.objects[name]
    # None: its end is lost, and with it the data of some replies.
    there.whole.objects[name] = data[:-200] if damage is None else damage
    front, lost = there.another(), 0
    for number in range(20):
        if not await front.get(key(number)):
            lost += 1
            await front.put(key(number), f"jobs {number}".encode())
    assert lost > 0
    assert {name in each.getMessage() for each in caplog.records} == {True}
    await there.fill(range(30, 100))
    for _ in range(10):
        await there.pack()
    for number in range(20):
        assert await there.another().get(key(number)) == f"jobs {number}".encode()


class Held(MemoryStore):
    """A store whose first read of `held` waits until it is `freed`, and tells when it does."""

    held = ""

    def __init__(self) -> None:
        super().__init__()
        self.waits, self.freed = asyncio.Event(), asyncio.Event()

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        if key == self.held and not self.waits.is_set():
            self.waits.set()
            await self.freed.wait()
        return await super().get(key, max_bytes)


@pytest.mark.parametrize("generation", [0, 1, 2])
async def test_a_reader_that_was_paused_looks_for_packs_again(generation: int) -> None:
    store = Held()
    there = Installation(store)
    await there.fill_loose(range(20))
    await there.put_loose(key(1), b"grown", generation=1)
    reader = there.another()
    assert await reader.packs.names() == ()
    store.held = generation_key(key(1), generation)
    reading = asyncio.ensure_future(reader.get(key(1)))
    await store.waits.wait()
    await there.pack()
    assert there.count("jobs/") == 0
    store.freed.set()
    assert await reading == b"grown"


class Stopping(MemoryStore):
    """A store of a process that is killed after some calls, which others go on using."""

    left = 1_000_000

    async def _spend(self) -> None:
        await asyncio.sleep(0)
        self.left -= 1
        if self.left < 0:
            raise asyncio.CancelledError

    async def put(self, key: str, data: object) -> None:
        await self._spend()
        await super().put(key, data)  # type: ignore[arg-type]

    async def delete(self, *keys: str) -> None:
        for each in keys:
            await self._spend()
            await super().delete(each)


@pytest.mark.parametrize("loose", [True, False])
async def test_a_packer_that_dies_anywhere_loses_nothing(*, loose: bool) -> None:
    for calls in range(60):
        store = Stopping()
        there = Installation(store)
        await (there.fill_loose if loose else there.fill)(range(20))
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
        assert there.count("jobs/") == 0
        assert [await there.another().get(key(each)) for each in range(20)] == expected
        if not died:
            return
    pytest.fail("it never came to its end")


class Yielding(MemoryStore):
    """A store whose calls take turns: each waits until the schedule lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: Callable[[], int] = lambda: 0

    async def _wait(self) -> None:
        for _ in range(self.turns()):
            await asyncio.sleep(0)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        await self._wait()
        return await super().get(key, max_bytes)

    async def replace(self, key: str, data: object, version: str | None) -> str | None:
        await self._wait()
        return await super().replace(key, data, version)  # type: ignore[arg-type]

    async def put(self, key: str, data: object) -> None:
        await self._wait()
        await super().put(key, data)  # type: ignore[arg-type]

    async def delete(self, *keys: str) -> None:
        for each in keys:
            await self._wait()
            await super().delete(each)


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

    async def _grow(self, front: PackedStore, number: int) -> None:
        found = int(await front.get(key(number)) or 0)
        assert found == self._saved[number][-1][1]
        self._writers += 1
        await front.put(key(number), str(found + 1).encode())
        self._writers -= 1
        self._saved[number].append((self._there.clock.seconds, found + 1))
        assert int(await front.get(key(number)) or 0) >= found + 1
        self._busy.discard(number)

    async def _read(self, front: PackedStore, number: int) -> None:
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


async def test_packs_of_a_newer_form_are_left_alone(there: Installation) -> None:
    newer = f"{packs.PREFIX}{0:016x}-{0:08x}-20.pack2"
    await there.whole.put(newer, b"newer")
    for first in range(0, 400, 10):
        await there.fill(range(first, first + 10))
        await there.pack()
    await there.front.delete(key(1))
    assert there.whole.objects[newer] == b"newer"


async def test_rows_beyond_the_bound_are_neither_read_nor_held() -> None:
    store, clock = MemoryStore(), FakeClock()
    front = Packs(store, clock, held=250 * 28, small=0)
    names = [pack_key(key(number)) or b"" for number in range(300)]
    for first in range(0, 300, 10):
        frames = [Frame.of(each, 0, b"x") for each in names[first : first + 10]]
        await front.write(frames, clock.now())
    found = [await front.find(each) is not None for each in names]
    assert found == [False] * 50 + [True] * 250
    oldest = (await front.names())[-1]
    del store.objects[oldest]
    assert await front.find(names[-1])


async def test_a_pack_that_goes_while_it_is_read_leaves_nothing_behind(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    front = there.another().packs
    (name,) = await front.names()
    await front.rows(name)
    del there.whole.objects[name]
    assert await front.frames(name) == []
