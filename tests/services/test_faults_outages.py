"""Servers below the services that are away or full for a while, on real Kafka and MinIO.

What is published is given up after 10 s, so that an outage is long enough for calls to fail.
"""

import asyncio
import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from minio.credentials import StaticProvider
from minio.minioadmin import MinioAdmin
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.readiness import Readiness
from tests.fakes.separate import (
    AGAIN,
    ENDS_WITHIN,
    IN_FLIGHT,
    SERVICES,
    STAGES,
    Calls,
    Ground,
    Installation,
    example,
)
from tests.fakes.separate import installation as installed
from tests.servers.process import ServerProcess

Server = tuple[ServerProcess, str]
MIDDLE = 12
AWAY = 20.0
# Who works on topics.
WORKERS = (*STAGES, "gateway")


async def test_a_broker_that_is_away_for_a_while(there: Installation, broker: Server) -> None:
    config = example("broker")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    async with there.readiness(WORKERS) as told:
        await _outage(broker[0])
        calls = await there.same_as_alone(run, config)
        await _ready(told)
    _bounded(calls)
    assert {kind: each.told for kind, each in told.items()} == _once(WORKERS)


async def test_a_store_that_is_away_for_a_while(there: Installation, objects: Server) -> None:
    config = example("store")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    async with there.readiness(SERVICES) as told:
        await _outage(objects[0])
        calls = await there.same_as_alone(run, config)
        await _ready(told)
    _bounded(calls)
    assert {kind: each.told for kind, each in told.items()} == _once(SERVICES)


@contextmanager
def full_bucket(there: Installation) -> Iterator[None]:
    """MinIO has no room for another byte of the bucket."""
    parts = urlsplit(there.ground.minio)
    admin = MinioAdmin(
        endpoint=f"{parts.hostname}:{parts.port}",
        credentials=StaticProvider(parts.username or "", parts.password or ""),
        secure=False,
    )
    admin.bucket_quota_set(there.ground.bucket, 1)
    yield
    admin.bucket_quota_clear(there.ground.bucket)


@contextmanager
def full_disk(there: Installation) -> Iterator[None]:
    """No service can write another byte to a file."""
    for service in there.services.values():
        resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    yield
    for service in there.services.values():
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(service.pid, resource.RLIMIT_FSIZE, unlimited)


Full = Callable[[Installation], AbstractContextManager[None]]


@pytest.mark.parametrize(("kind", "full"), [("minio", full_bucket), ("directory", full_disk)])
async def test_a_store_that_is_full_for_a_while(ground: Ground, kind: str, full: Full) -> None:
    config = example(f"full-{kind}")
    if kind == "directory":
        ground = replace(ground, minio="")
    released, plain = asyncio.Event(), answer("1")

    async def held(*given: Any) -> web.StreamResponse:
        await released.wait()
        return await plain(*given)

    chats = {stage: ChatServer(otherwise=held) for stage in STAGES}
    # A few captions, so that the reader has something to ask as well.
    chats["captioner"].script = [plain] * IN_FLIGHT
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
            await _ready(told)
    # What was in flight is kept once there is room: nothing is asked twice.
    assert all(asked == needed for asked, needed in calls.values()), calls
    assert {kind: each.told for kind, each in told.items()} == _once(STAGES)


async def _outage(server: ServerProcess) -> None:
    await asyncio.to_thread(server.stop)
    await asyncio.sleep(AWAY)
    await asyncio.to_thread(server.start)


async def _ready(told: Mapping[str, Readiness]) -> None:
    async with asyncio.timeout(ENDS_WITHIN):
        for each in told.values():
            await each.until(True)


def _once(names: tuple[str, ...]) -> dict[str, list[bool]]:
    """Not ready once, and back once."""
    return {name: [True, False, True] for name in names}


def _bounded(calls: Mapping[str, Calls]) -> None:
    for stage, (asked, needed) in calls.items():
        assert needed <= asked <= needed + AGAIN[stage]
