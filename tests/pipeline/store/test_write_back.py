import pytest
from tests.fakes.stores import MemoryStore

from caliper.core.errors import StoreFull
from caliper.pipeline.store.write_back import WriteBackBuffer


async def test_what_is_written_is_the_store_s() -> None:
    below = MemoryStore()
    store = WriteBackBuffer(below)
    await store.put("jobs/a", b"1")
    assert below.objects == {"jobs/a": b"1"}
    below.objects["jobs/a"] = b"2"
    assert await store.get("jobs/a") == b"2"
    assert [key async for key in store.list("jobs/")] == ["jobs/a"]


async def test_a_write_that_failed_is_made_up_for_by_the_next_reader() -> None:
    below = MemoryStore()
    store = WriteBackBuffer(below)
    below.full = True
    with pytest.raises(StoreFull):
        await store.put("jobs/a", b"1")
    with pytest.raises(StoreFull):
        await store.get("jobs/a")
    assert await store.get("jobs/b") is None
    below.full = False
    assert await store.get("jobs/a") == b"1"
    assert below.objects == {"jobs/a": b"1"}
    # It is the store's from now on.
    below.objects.clear()
    assert await store.get("jobs/a") is None


async def test_a_later_write_replaces_what_is_held() -> None:
    below = MemoryStore()
    store = WriteBackBuffer(below)
    below.full = True
    for data in (b"1", b"2"):
        with pytest.raises(StoreFull):
            await store.put("jobs/a", data)
    below.full = False
    await store.put("jobs/a", b"3")
    assert await store.get("jobs/a") == b"3"


async def test_what_others_wrote_meanwhile_stays() -> None:
    below = MemoryStore()
    store = WriteBackBuffer(below)
    for before in (None, b"0"):
        below.objects = {} if before is None else {"jobs/a": before}
        assert await store.get("jobs/a") == before
        below.full = True
        with pytest.raises(StoreFull):
            await store.put("jobs/a", b"1")
        below.full = False
        below.objects["jobs/a"] = b"more of another"
        for _ in range(2):
            assert await store.get("jobs/a") == b"more of another"


async def test_what_is_held_replaces_what_it_came_from() -> None:
    below = MemoryStore()
    below.objects["jobs/a"] = b"0"
    store = WriteBackBuffer(below)
    assert await store.get("jobs/a") == b"0"
    below.full = True
    with pytest.raises(StoreFull):
        await store.put("jobs/a", b"1")
    below.full = False
    assert await store.get("jobs/a") == b"1"
    assert below.objects == {"jobs/a": b"1"}


async def test_what_it_wrote_itself_is_not_of_others() -> None:
    below = MemoryStore()
    store = WriteBackBuffer(below)
    await store.put("jobs/a", b"1")
    below.full = True
    with pytest.raises(StoreFull):
        await store.put("jobs/a", b"12")
    below.full = False
    assert await store.get("jobs/a") == b"12"
    assert below.objects == {"jobs/a": b"12"}


async def test_so_much_is_held_and_no_more() -> None:
    below = MemoryStore()
    store = WriteBackBuffer(below, capacity=2)
    below.full = True
    for key in "abc":
        with pytest.raises(StoreFull):
            await store.put(key, key.encode())
    below.full = False
    assert [await store.get(key) for key in "abc"] == [None, b"b", b"c"]
