"""A start whose plan-job never arrived is planned all the same."""

import asyncio
from dataclasses import replace

import pytest
from tests.fakes.boards import Front, scores
from tests.fakes.clock import PATIENCE

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.envelopes import Message
from caliper.core.errors import StreamUnavailable
from caliper.pipeline.gateway.lost_starts import LostStarts
from caliper.pipeline.planning.publisher import PLAN_JOBS
from caliper.pipeline.store.runs import refuse, run_store


class ShakyStream(MemoryStream):
    """Refuses the first message."""

    refused = False

    async def publish(self, message: Message) -> None:
        if not self.refused:
            self.refused = True
            raise StreamUnavailable("away")
        await super().publish(message)


@pytest.fixture
def front() -> Front:
    return Front(stream=ShakyStream())


async def begun(front: Front) -> tuple[str, LostStarts]:
    """A run whose plan-job was refused."""
    gateway = await front.gateway()
    with pytest.raises(StreamUnavailable):
        await gateway.start(front.asked)
    (run,) = (await gateway.list()).evaluations
    return run.spec.run_id, LostStarts(gateway, front.stream, ProtobufCodec(), front.clock)


async def plan_jobs(front: Front) -> int:
    return (await front.stream.backlog(PLAN_JOBS, PLAN_JOBS)).waiting


async def test_its_plan_job_is_published_once(front: Front) -> None:
    run, starts = await begun(front)
    assert await starts.resume() == [run]
    # It waits for a planner now.
    assert await starts.resume() == []
    assert await plan_jobs(front) == 1


async def test_a_run_that_was_refused_is_not_lost(front: Front) -> None:
    run, starts = await begun(front)
    await refuse(run_store(front.store, run), "no such row")
    assert await starts.resume() == []
    assert await plan_jobs(front) == 0


async def test_an_old_run_that_was_started_again_is_found(front: Front) -> None:
    run, starts = await begun(front)
    gateway = await front.gateway()
    planner = front.stream.consumer(PLAN_JOBS, PLAN_JOBS)
    for number in range(120):
        front.clock.seconds += 1
        newer, _ = await gateway.start(replace(front.asked, name=f"newer {number}"))
        await refuse(run_store(front.store, newer.spec.run_id), "no such row")
        delivery = await planner.receive()
        assert delivery is not None
        await planner.acknowledge(delivery)
    looks = 0
    while run not in await starts.resume():
        looks += 1
        assert looks < 4


async def test_a_running_run_is_planned_again_once_it_has_stood_still(front: Front) -> None:
    _, starts = await begun(front)
    found = []
    # It has an outcome every nine minutes, and then none for more than a day.
    for minute in range(27 + 10 + 24 * 60 + 1):
        front.board.now = scores("running", 1 + min(minute, 26) // 9)
        if await starts.resume():
            found.append(minute)
        front.clock.seconds += 60
    assert found == [18 + 10, 18 + 10 + 24 * 60]
    assert await plan_jobs(front) == len(found)
    front.board.now = scores("running", 4)
    assert await starts.resume() == []


async def test_it_looks_again_after_an_error(front: Front) -> None:
    _, starts = await begun(front)
    assert isinstance(front.stream, ShakyStream)
    front.stream.refused = False
    looking = asyncio.create_task(starts.run())
    consumer = front.stream.consumer(PLAN_JOBS, PLAN_JOBS)
    async with asyncio.timeout(PATIENCE):
        assert await consumer.receive() is not None
    looking.cancel()
