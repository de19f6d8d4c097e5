import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.evaluations import verdict
from tests.fakes.stores import MemoryStore

from caliper.core.errors import DataLoss, InvalidInput, StoreFull
from caliper.core.outcome import Verdict
from caliper.pipeline.ledger.verdict_log import (
    SEGMENT_BYTES,
    SegmentCache,
    StoreLog,
    check_segments,
)
from caliper.pipeline.store.runs import END, run_store, write_json

PREFIX = f"runs/{16 * 'a'}/verdicts"
VERDICTS = st.builds(verdict, st.integers(0, 99), st.integers(-1, 1), st.text(max_size=9))


async def opened(store: MemoryStore) -> StoreLog:
    return await StoreLog.open(store, PREFIX, SegmentCache(store))


async def everything(log: StoreLog) -> list[tuple[int, Verdict]]:
    return [placed async for batch in log.batches() for placed in batch]


@given(st.lists(st.lists(VERDICTS, max_size=4), max_size=5))
def test_places_hold_across_restarts(lives: list[list[Verdict]]) -> None:
    async def live() -> None:
        store = MemoryStore()
        kept: dict[int, Verdict] = {}
        for verdicts in lives:
            log = await opened(store)
            placed = dict(zip(log.append(verdicts), verdicts, strict=True))
            assert not placed.keys() & kept.keys()
            kept |= placed
            assert {place: log.read(place) for place in placed} == placed
            assert await log.read_many(kept) == kept
            await log.flush()
            assert log.pending == 0
            assert await log.read_many(kept) == kept
        assert dict(await everything(await opened(store))) == kept

    asyncio.run(live())


async def test_a_large_segment_is_sealed() -> None:
    store = MemoryStore()
    log = await opened(store)
    long = [verdict(index, 1, "x" * (SEGMENT_BYTES // 3)) for index in range(7)]
    places = log.append(long)
    assert log.pending > 2 * SEGMENT_BYTES
    await log.flush()
    assert len(store.objects) == 3
    assert await log.read_many(places) == dict(zip(places, long, strict=True))


async def test_what_the_store_refused_is_still_there() -> None:
    store = MemoryStore()
    log = await opened(store)
    first = log.append([verdict(0, 1)])
    store.full = True
    with pytest.raises(StoreFull):
        await log.flush()
    second = log.append([verdict(1, 1)])
    assert set(await log.read_many([*first, *second])) == {*first, *second}
    store.full = False
    await log.flush()
    assert [placed for placed, _ in await everything(log)] == [*first, *second]


async def test_a_segment_that_is_written_anew_after_a_purge_is_read_anew() -> None:
    store = MemoryStore()
    cache = SegmentCache(store)
    for score in (1, 0):
        log = await StoreLog.open(store, PREFIX, cache)
        (place,) = log.append([verdict(0, score)])
        await log.flush()
        assert await log.read_many([place]) == {place: verdict(0, score)}
        store.objects.clear()


async def test_what_others_write_later_is_read_without_listing() -> None:
    store = MemoryStore()
    reading, writing = (StoreLog(store, PREFIX, SegmentCache(store)) for _ in range(2))
    for found in ([], [0, 1], [], [2]):
        for index in found:
            writing.append([verdict(index, 1)])
            await writing.flush()
        seen = [told.index async for batch in reading.read_new() for _, told in batch]
        assert seen == found
    assert store.count("list") == 0


async def test_what_was_flushed_is_not_read_at_once() -> None:
    log = await opened(MemoryStore())
    (place,) = log.append([verdict(0, 1)])
    await log.flush()
    with pytest.raises(KeyError):
        log.read(place)


@pytest.mark.parametrize("broken", [None, b"", b"rubbish"])
async def test_a_lost_or_broken_segment(broken: bytes | None) -> None:
    store = MemoryStore()
    log = await opened(store)
    places: Sequence[int] = log.append([verdict(0, 1)])
    await log.flush()
    (key,) = store.objects
    del store.objects[key]
    if broken is not None:
        store.objects[key] = broken
    with pytest.raises(InvalidInput, match=key):
        await log.read_many(places)


async def test_the_cache_forgets_the_oldest() -> None:
    store = MemoryStore()
    cache = SegmentCache(store, capacity=100)
    log = StoreLog(store, PREFIX, cache)
    places = []
    for index in range(4):
        places += log.append([verdict(index, 1, "x" * 60)])
        await log.flush()
    await log.read_many(places)
    for key in list(store.objects)[:-1]:
        del store.objects[key]
    assert await log.read_many(places[-1:])
    with pytest.raises(InvalidInput):
        await log.read_many(places[:1])


async def test_the_loss_of_the_last_segment_is_found() -> None:
    store = MemoryStore()
    for number in range(2):
        log = await opened(store)
        log.append([verdict(number, 1)])
        await log.flush()
    own = run_store(store, "a" * 16)
    await write_json(own, END, segments=2)
    await check_segments(own)
    # A small run has no other segment.
    del store.objects[f"{PREFIX}/00000001.jsonl.gz"]
    with pytest.raises(DataLoss):
        await check_segments(own)
