import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.stores import Gate, MemoryStore

from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.pipeline.comparing.worker_loop import RelayedStore, run_in_thread


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as found:
        yield found


async def test_work_is_in_another_thread_and_the_store_is_called_in_this(
    executor: ThreadPoolExecutor, tmp_path: Path
) -> None:
    home, threads = MemoryStore(), set[int]()
    store = RelayedStore(home)

    async def note(*_: str) -> None:
        threads.add(threading.get_ident())

    home.before = note

    async def work() -> tuple[int, list[str], bytes | None]:
        await store.put("a/1", b"one")
        (tmp_path / "two").write_bytes(b"two")
        await store.put("a/2", tmp_path / "two")
        assert await store.get_file("a/2", tmp_path / "back")
        keys = [key async for key in store.list("a/")]
        return threading.get_ident(), keys, await store.get("a/1")

    thread, keys, data = await run_in_thread(work, executor)
    assert thread != threading.get_ident()
    assert threads == {threading.get_ident()}
    with pytest.raises(InvalidInput, match="a/1"):
        await run_in_thread(lambda: store.get("a/1", 2), executor)
    assert (keys, data) == (["a/1", "a/2"], b"one")
    assert (tmp_path / "back").read_bytes() == b"two"


async def test_failures_come_back(executor: ThreadPoolExecutor) -> None:
    home = MemoryStore()
    home.away = {"get": ""}
    store = RelayedStore(home)
    with pytest.raises(StoreUnavailable, match="away"):
        await run_in_thread(lambda: store.get("gone"), executor)


async def test_whoever_leaves_takes_the_work_along(executor: ThreadPoolExecutor) -> None:
    home, ended = MemoryStore(), asyncio.Event()
    home.before = gate = Gate("get")
    loop, store = asyncio.get_running_loop(), RelayedStore(home)

    async def work() -> None:
        try:
            await store.get("never")
        finally:
            loop.call_soon_threadsafe(ended.set)

    async with asyncio.timeout(PATIENCE):
        doing = asyncio.create_task(run_in_thread(work, executor))
        await gate.reached.wait()
        doing.cancel()
        await asyncio.wait([doing])
        assert doing.cancelled()
        await ended.wait()
        # The thread is free again.
        assert await run_in_thread(lambda: asyncio.sleep(0, "next"), executor) == "next"


async def test_work_that_was_cancelled_before_its_turn_never_begins(
    executor: ThreadPoolExecutor,
) -> None:
    hold, begun = threading.Event(), threading.Event()
    blocking = asyncio.get_running_loop().run_in_executor(executor, hold.wait)

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    waiting = asyncio.create_task(run_in_thread(work, executor))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    hold.set()
    await blocking
    async with asyncio.timeout(PATIENCE):
        assert await run_in_thread(lambda: asyncio.sleep(0, "next"), executor) == "next"
    assert not begun.is_set()
