"""Pictures of pages: decoded two at a time, whatever browsers do."""

import asyncio
import threading

import aiohttp
import pytest
from tests.fakes.gateway_pages import watched
from tests.fakes.telemetry import until


async def test_browsers_that_leave_occupy_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = list[str](), threading.Event()

    def slow(_: str, path: str) -> bytes:
        begun.append(path)
        go_on.wait(60)
        return b"jpeg"

    async with watched() as there:
        monkeypatch.setattr(there, "picture", slow)
        run = await there.begin("ours")
        address = f"{there.address}/runs/{run.spec.run_id}/picture?benchmark=captionqa&media="

        async def load(page: int) -> None:
            async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
                for number in range(6):
                    group.create_task(session.get(f"{address}{page}-{number}.jpg"))

        try:
            first = asyncio.create_task(load(1))
            await until(lambda: len(begun) == 2)
            first.cancel()
            second = asyncio.create_task(load(2))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await until(lambda: len(begun) > 2)
        finally:
            go_on.set()
        await second
    assert len(begun) >= 6
