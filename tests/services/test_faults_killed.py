"""Services that are killed in mid-run: the report is the same to the last byte.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.chat_server import ChatServer
from tests.fakes.opinions import steadfast
from tests.fakes.separate import AGAIN, ENDS_WITHIN, SERVICES, STAGES, Installation
from tests.fakes.small_runs import example

# Requests until a run is in its middle. The reader begins once there are captions.
MIDDLE = 12


@pytest.mark.parametrize("kind", SERVICES)
async def test_a_service_that_is_killed_and_comes_back(there: Installation, kind: str) -> None:
    config = example(f"{kind}-killed")
    run = await there.begin(config)
    await there.asked(kind if kind in STAGES else "judge", MIDDLE)
    await there.kill(kind)
    await there.again(kind)
    for stage, calls in (await there.same_as_alone(run, config)).items():
        # Only what was in flight there; a gateway may have been planning, and publishes again.
        again = AGAIN[stage] if kind in (stage, "gateway") else 0
        assert calls.needed <= calls.asked <= calls.needed + again


async def test_a_judge_that_is_killed_in_every_call_for_a_while(there: Installation) -> None:
    config = example("innocent")
    kills, called = 6, asyncio.Event()

    async def slow(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        called.set()
        await asyncio.Event().wait()
        raise AssertionError

    there.chats["judge"].from_now_on(slow)
    run = await there.begin(config)
    for _ in range(kills):
        async with asyncio.timeout(ENDS_WITHIN):
            await called.wait()
        await there.kill("judge")
        called.clear()
        await there.again("judge")
    there.chats["judge"].from_now_on(steadfast)
    # Those that hang are given up with the judge that made them.
    await there.kill("judge")
    await there.again("judge")
    # No job is put aside for it.
    calls = await there.same_as_alone(run, config)
    assert calls["judge"].asked <= calls["judge"].needed + (kills + 1) * AGAIN["judge"]
