"""What befalls services in mid-run: the report is the same to the last byte.

On real Kafka and MinIO, with every service a process of its own. Outages last as long as it
takes for calls to fail: MinIO refuses at once, and what is published is given up after 10 s.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from tests.conftest import serve
from tests.fakes.chat_server import ChatServer, answer, never
from tests.fakes.separate import (
    ENDS_WITHIN,
    IN_FLIGHT,
    SERVICES,
    STAGES,
    Ground,
    Installation,
    example,
)
from tests.fakes.separate import installation as installed
from tests.servers.choosing import KAFKA, MINIO
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.core.run import RunState
from caliper.pipeline.publish import CAPTION_JOBS, JUDGE_JOBS, PLAN_JOBS, QA_JOBS, RUNS, VERDICTS
from caliper.ports.letters import DEAD_LETTERS
from caliper.ports.stream import Message, Record

JOBS = (PLAN_JOBS, CAPTION_JOBS, JUDGE_JOBS, QA_JOBS)
Server = tuple[ServerProcess, str]
# Requests until a run is in its middle. The reader begins once there are captions.
MIDDLE = 12
STORE_AWAY, BROKER_AWAY = 4.0, 13.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    for server, address in serve(KAFKA, tmp_path_factory):
        apply_topics(KafkaAccess(address), partitions=4)
        yield server, address


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from serve(MINIO, tmp_path_factory)


@pytest_asyncio.fixture
async def there(broker: Server, objects: Server, tmp_path: Path) -> AsyncIterator[Installation]:
    ground = Ground(broker[1], objects[1], f"caliper-{uuid.uuid4().hex[:8]}", tmp_path)
    chats = {kind: ChatServer(delay=0.1) for kind in STAGES}
    async with installed(ground, chats) as found:
        yield found


@pytest.mark.parametrize("signal", ["kill", "stop"])
@pytest.mark.parametrize("kind", SERVICES)
async def test_a_service_that_goes_and_comes_back(
    there: Installation, kind: str, signal: str
) -> None:
    config = example(f"{kind}-{signal}")
    run = await there.begin(config)
    await there.asked(kind if kind in STAGES else "judge", MIDDLE)
    await asyncio.to_thread(getattr(there.services[kind], signal))
    await there.again(kind)
    asked = await there.same_as_alone(run, config)
    for stage in ("captioner", "judge"):
        count, needed = asked[stage]
        assert needed <= count <= needed + IN_FLIGHT


async def test_a_broker_that_is_away_for_a_while(there: Installation, broker: Server) -> None:
    config = example("broker")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    await _outage(broker[0], BROKER_AWAY)
    await there.same_as_alone(run, config)


async def test_a_store_that_is_away_for_a_while(there: Installation, objects: Server) -> None:
    config = example("store")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    await _outage(objects[0], STORE_AWAY)
    await there.same_as_alone(run, config)


async def test_a_gateway_killed_in_mid_planning(there: Installation) -> None:
    config = example("planning")
    run = await there.begin(config)
    # In another process: nothing here can be awaited.
    async with asyncio.timeout(ENDS_WITHIN):
        while not [key async for key in there.store.list(f"runs/{run}/plan/")]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await asyncio.to_thread(there.services["gateway"].kill)
    await there.again("gateway")
    await there.same_as_alone(run, config)


async def test_two_judges_that_join_and_leave(there: Installation) -> None:
    config = example("joining")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    second = await there.another("judge", "judge-2")
    await there.asked("judge", 2 * MIDDLE)
    await asyncio.to_thread(there.services["judge"].stop)
    await there.asked("judge", 3 * MIDDLE)
    await there.again("judge")
    await there.asked("judge", 4 * MIDDLE)
    await asyncio.to_thread(second.kill)
    count, needed = (await there.same_as_alone(run, config))["judge"]
    assert needed <= count <= needed + 2 * IN_FLIGHT


async def test_a_model_that_hangs_costs_nobody_the_membership(
    broker: Server, objects: Server, tmp_path: Path
) -> None:
    config = example("hanging")
    ground = Ground(broker[1], objects[1], f"caliper-{uuid.uuid4().hex[:8]}", tmp_path)
    chats = {kind: ChatServer() for kind in STAGES}
    chats["judge"].script = [never()] * IN_FLIGHT
    # Longer than the session, so that only polling keeps the membership.
    async with installed(ground, chats, timeout="5") as there:
        run = await there.begin(config)
        count, needed = (await there.same_as_alone(run, config))["judge"]
    assert count == needed + IN_FLIGHT


async def test_everything_twice(there: Installation) -> None:
    config = example("duplicates")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    await there.asked("qa_reader", 1)
    stream = KafkaStream(KafkaAccess(there.ground.kafka))
    for topic in (*JOBS, VERDICTS, RUNS):
        for record in await records(there.ground.kafka, topic):
            if run in record.message.key:
                await stream.publish(record.message)
    await stream.close()
    asked = await there.same_as_alone(run, config)
    for stage in ("captioner", "judge"):
        count, needed = asked[stage]
        assert needed <= count <= needed + IN_FLIGHT


async def test_poison_is_put_aside_and_explained(there: Installation) -> None:
    config = example("poison")
    run = await there.begin(config)
    await there.asked("qa_reader", 1)
    stream = KafkaStream(KafkaAccess(there.ground.kafka))
    unknown, mark = uuid.uuid4().hex[:16], f"poison-{uuid.uuid4()}"
    for topic in (*JOBS, VERDICTS, RUNS):
        found = await records(there.ground.kafka, topic)
        real = next(one.message.value for one in found if run in one.message.key)
        # The last value of a field is the one that counts.
        newer = real + b"\x08\xff\x7f"
        stranger = real.replace(run.encode(), unknown.encode())
        for kind, value in (("bytes", b"\xff\xff"), ("newer", newer), ("unknown", stranger)):
            await stream.publish(Message(topic, f"{mark}/{kind}", value))
    await there.same_as_alone(run, config)
    letters = [
        one.message
        for one in await records(there.ground.kafka, DEAD_LETTERS)
        if one.message.key.startswith(mark)
    ]
    await stream.close()
    told = {
        (one.headers["origin"], one.key.rpartition("/")[2], one.headers["error"].split(":")[0])
        for one in letters
    }
    errors = (("bytes", "InvalidInput"), ("newer", "NewerSchema"), ("unknown", "NotFound"))
    assert told == {(topic, kind, error) for topic in JOBS for kind, error in errors}
    assert len(letters) == len(told)


async def test_a_job_that_kills_its_worker_is_put_aside_at_the_third_crash(
    there: Installation,
) -> None:
    config = example("deadly")
    deadly, arrived, plain = [""], asyncio.Event(), answer("1")

    async def killing(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        said = str(body["messages"])
        deadly[0] = deadly[0] or said
        if said == deadly[0]:
            arrived.set()
            await asyncio.Event().wait()
        return await plain(server, request, body)

    async def undertaker() -> None:
        while True:
            await arrived.wait()
            arrived.clear()
            await asyncio.to_thread(there.services["judge"].kill)
            await there.again("judge")

    there.chats["judge"].from_now_on(killing)
    digging = asyncio.create_task(undertaker())
    run = await there.begin(config)
    assert (await there.over(run)).state is RunState.FINISHED
    digging.cancel()
    there.chats["judge"].from_now_on(plain)
    lost = await there.gateway.report(run, partial=True)
    (dead,) = [
        one.message
        for one in await records(there.ground.kafka, DEAD_LETTERS)
        if run in one.message.key
    ]
    assert dead.headers["crashes"] == "3"
    # Sent once more to a judge that lives, it heals the run.
    stream = KafkaStream(KafkaAccess(there.ground.kafka))
    await stream.publish(replace(dead, topic=dead.headers["origin"], headers={}))
    await stream.close()
    # The run was over before: watching it ends at once.
    async with asyncio.timeout(ENDS_WITHIN):
        while await there.gateway.report(run, partial=True) == lost:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await there.same_as_alone(run, config)


async def records(servers: str, topic: str) -> list[Record]:
    """All that a topic keeps now."""
    log = KafkaLog(KafkaAccess(servers))
    left = sum((await log.ends(topic)).values())
    found: list[Record] = []
    reading = log.read(topic, {})
    while len(found) < left:
        found.append(await anext(reading))
    await reading.aclose()
    return found


async def _outage(server: ServerProcess, seconds: float) -> None:
    await asyncio.to_thread(server.stop)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(server.start)
