"""Marks of reuse: few objects, none of them lost."""

import asyncio
import logging

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.core.errors import StoreFull
from caliper.core.keys import text_digest
from caliper.pipeline.store.pack_store import PackStore

FOLDER = "runs/one/reused/"


def mark(number: int, kind: str = "verdicts", run: str = "one") -> str:
    return f"runs/{run}/reused/{kind}/{text_digest(str(number))[:32]}/{number}"


@pytest.fixture
def whole() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def store(whole: MemoryStore) -> PackStore:
    return PackStore(whole, FakeClock())


async def listed(store: PackStore, prefix: str = FOLDER) -> list[str]:
    return [key async for key in store.list(prefix)]


async def test_marks_that_come_together_are_one_object(
    store: PackStore, whole: MemoryStore
) -> None:
    marks = [mark(number, kind) for number in range(30) for kind in ("captions", "verdicts")]
    await asyncio.gather(*map(store.put, marks, [b""] * len(marks)))
    assert len(whole.objects) == 1
    for reader in (store, PackStore(whole, FakeClock())):
        assert await listed(reader) == sorted(marks)
        assert await listed(reader, f"{FOLDER}captions/") == sorted(marks[::2])


async def test_each_run_has_its_own(store: PackStore, whole: MemoryStore) -> None:
    marks = [mark(1), mark(1, run="two")]
    await asyncio.gather(*map(store.put, marks, [b"", b""]))
    assert sorted(key.split("/")[1] for key in whole.objects) == ["one", "two"]
    assert await listed(store) == marks[:1]


async def test_one_that_comes_twice_counts_once(store: PackStore) -> None:
    await store.put(mark(1), b"")
    await store.put(mark(1), b"")
    assert await listed(store) == [mark(1)]


async def test_those_of_earlier_releases_are_listed_too(
    store: PackStore, whole: MemoryStore
) -> None:
    await whole.put(mark(1), b"")
    await store.put(mark(2), b"")
    assert await listed(store) == sorted([mark(1), mark(2)])


async def test_a_full_store_fails_the_job(store: PackStore, whole: MemoryStore) -> None:
    whole.full = True
    with pytest.raises(StoreFull):
        await store.put(mark(1), b"")
    assert await listed(store) == []


async def test_damage_is_told_and_costs_only_what_it_hit(
    store: PackStore, whole: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    await asyncio.gather(*(store.put(mark(number), b"") for number in range(3)))
    (name,) = whole.objects
    data = await whole.get(name) or b""
    lines = data.splitlines()
    await whole.put(name, b"\n".join([lines[0], b"\xff" + lines[1][1:], lines[2][:20]]))
    with caplog.at_level(logging.WARNING):
        assert await listed(store) == [FOLDER + lines[0].decode()]
    assert f"{name} is damaged: 2 marks are lost" in caplog.text
