"""A store without room for another byte for a while: MinIO's bucket, and the disk.

With every service a process of its own, on a real Kafka.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.chat_server import ChatServer
from tests.fakes.full_storage import full_bucket, full_disk
from tests.fakes.opinions import steadfast
from tests.fakes.readiness import flapped, ready
from tests.fakes.separate import ENDS_WITHIN, IN_FLIGHT, STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example

Full = Callable[[Installation], AbstractContextManager[None]]


@pytest.mark.parametrize(("kind", "full"), [("minio", full_bucket), ("directory", full_disk)])
async def test_a_store_that_is_full_for_a_while(ground: Ground, kind: str, full: Full) -> None:
    config = example()
    if kind == "directory":
        ground = replace(ground, minio="")
    released = asyncio.Event()

    async def held(*given: Any) -> web.StreamResponse:
        await released.wait()
        return await steadfast(*given)

    chats = {stage: ChatServer(otherwise=held) for stage in STAGES}
    # A few captions, so that the reader has something to ask as well.
    chats["captioner"].script = [steadfast] * IN_FLIGHT
    async with installed(ground, chats) as there:
        run = await there.begin(config)
        for stage, count in (("judge", 1), ("captioner", IN_FLIGHT + 1), ("qa_reader", 1)):
            await there.asked(stage, count)
        async with there.readiness(STAGES) as told, asyncio.timeout(ENDS_WITHIN):
            with full(there):
                released.set()
                # All three have replies that they cannot keep.
                for each in told.values():
                    await each.until(False)
            calls = await there.same_as_alone(run, config)
            await ready(told)
    # What was in flight is kept once there is room: nothing is asked twice.
    assert all(asked == needed for asked, needed in calls.values()), calls
    assert flapped(told) == {}
