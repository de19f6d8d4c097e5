"""Services that are killed or told to stop: the report is the same to the last byte.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.chat_server import ChatServer
from tests.fakes.frozen_gateway import planning
from tests.fakes.opinions import steadfast
from tests.fakes.separate import AGAIN, ENDS_WITHIN, STAGES, Installation
from tests.fakes.small_runs import example

# Requests of its own model, or of the judge, after which a service ends: each in mid-run. The
# reader begins once there are captions.
ENDS = {"captioner": 6, "judge": 12, "qa_reader": 6, "aggregator": 24, "gateway": 36}
# In seconds, a call of a model: all services end before the run does.
DELAY = 0.25


@pytest.mark.parametrize("fate", ["killed", "stopped"])
async def test_services_that_end_one_by_one_in_mid_run(there: Installation, fate: str) -> None:
    config = example("comprecap")
    for chat in there.chats.values():
        chat.delay = DELAY
    run, asked = await there.begin(config), dict.fromkeys(STAGES, 0)
    for kind, requests in ENDS.items():
        await there.asked(kind if kind in STAGES else "judge", requests)
        await (there.kill if fate == "killed" else there.stop)(kind)
        if kind in STAGES:
            asked[kind] = len(there.chats[kind].requests)
        await there.again(kind)
    for stage, calls in (await there.same_as_alone(run, config)).items():
        # Who is told to stop drains. A stage that is killed repeats what it had not saved: a job of
        # CompreCap has up to 58 calls. A gateway that is killed may have been planning.
        again = asked[stage] + AGAIN[stage] if fate == "killed" else 0
        assert calls.needed <= calls.asked <= calls.needed + again


@pytest.mark.parametrize("kinds", [(*STAGES, "aggregator"), ("gateway",)])
@pytest.mark.parametrize("fate", ["killed", "stopped"])
async def test_services_that_end_in_mid_planning(
    there: Installation, kinds: Sequence[str], fate: str
) -> None:
    async with planning(there, example()) as (run, config):
        for kind in kinds:
            if fate == "killed":
                await there.kill(kind)
            else:
                # A gateway that is frozen hears of it when it goes on.
                there.services[kind].terminate()
    for kind in kinds:
        if fate == "stopped":
            await there.ended(kind)
        await there.again(kind)
    for stage, calls in (await there.same_as_alone(run, config)).items():
        assert calls.needed <= calls.asked <= calls.needed + AGAIN[stage]


async def test_a_judge_that_is_killed_in_every_call_for_a_while(there: Installation) -> None:
    config = example()
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
