"""What a lookup among many packs costs, also while the store is slow or two packers run."""

import asyncio
from random import Random

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.packs import key
from tests.fakes.stores import MemoryStore

from caliper.pipeline.store import packs
from caliper.pipeline.store.pack_rows import ROW_BYTES, Frame
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.packer import GRACE, Packer
from caliper.pipeline.store.packs import FRESH, Packs, pack_key


def packed(number: int) -> bytes:
    return pack_key(key(number)) or b""


class SlowStore(MemoryStore):
    """A list of packs takes `seconds`."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.clock, self.seconds = clock, 0.0

    async def before(self, call: str, key: str) -> None:
        if (call, key) == ("list", packs.PREFIX):
            await asyncio.sleep(0)
            self.clock.seconds += self.seconds


@pytest.fixture
def store() -> SlowStore:
    return SlowStore(FakeClock())


async def test_lookups_share_a_list_that_takes_longer_than_it_stays_fresh(store: SlowStore) -> None:
    front = PackStore(store, store.clock)
    store.seconds = 2 * FRESH
    found = await asyncio.gather(*(front.get(key(number)) for number in range(32)))
    assert found == [None] * 32
    assert store.calls.count(("list", packs.PREFIX)) <= 4


async def test_rows_of_small_packs_beyond_the_bound_are_read_once(store: SlowStore) -> None:
    front = Packs(store, store.clock, most_small=100 * ROW_BYTES)
    for first in range(0, 300, 10):
        frames = [Frame.of(packed(number), 0, b"x") for number in range(first, first + 10)]
        await front.write(frames, store.clock.now())
    reader = Packs(store, store.clock, most_small=100 * ROW_BYTES)
    for number in range(1_000, 1_010):
        assert await reader.find(packed(number)) is None
    assert store.count("get_range") == 30
    for number in range(300):
        assert await reader.find(packed(number))
    assert store.count("get_range") == 30


async def test_of_two_packs_with_a_reply_the_newer_one_counts_whatever_their_sizes(
    store: SlowStore,
) -> None:
    front = Packs(store, store.clock, small=2 * ROW_BYTES)
    await front.write([Frame.of(packed(1), 0, b"old")], store.clock.now())
    new = [Frame.of(packed(number), 0, b"new") for number in range(3)]
    name = await front.write(new, store.clock.now())
    for reader in (front, Packs(store, store.clock, small=2 * ROW_BYTES)):
        place = await reader.find(packed(1))
        assert place is not None
        assert place[0] == name


@pytest.mark.parametrize("restarted", [True, False])
async def test_two_packers_merge_each_pack_once(store: SlowStore, *, restarted: bool) -> None:
    clock, chance = store.clock, Random(0)
    front = PackStore(store, clock)
    for number in range(200):
        await front.put(key(number), chance.randbytes(50_000))
    size = sum(map(len, store.objects.values()))
    one, other = (Packer(PackStore(store, clock), clock) for _ in range(2))
    for _ in range(4):
        for packer in (one, other):
            await packer.sweep()
            await packer.merge()
            clock.seconds += GRACE / 4
        if restarted:
            other = Packer(PackStore(store, clock), clock)
    for _ in range(3):
        clock.seconds += GRACE
        await one.sweep()
        await one.merge()
    assert sum(map(len, store.objects.values())) < 1.1 * size
    assert len(store.objects) == 2
    reader, chance = PackStore(store, clock), Random(0)
    for number in range(200):
        assert await reader.get(key(number)) == chance.randbytes(50_000)
