"""Servers below the services that are away for a while, on real Kafka and MinIO.

What is published is given up after 10 s, so that an outage is long enough for calls to fail.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.kafka_streams import part_of
from tests.fakes.readiness import flapped, ready
from tests.fakes.separate import AGAIN, SERVICES, Ground, Installation, grounded
from tests.fakes.small_runs import example
from tests.servers.process import ServerProcess

from caliper.core.run import RunState

Server = tuple[ServerProcess, str]
MIDDLE = 12
AWAY = 20.0


@pytest.fixture
def ground(own_kafka: Server, own_minio: Server, tmp_path: Path) -> Iterator[Ground]:
    """On servers that the test may stop."""
    with part_of(own_kafka[1]) as access:
        yield grounded(access, own_minio[1], tmp_path)


async def test_a_broker_that_is_away_for_a_while(there: Installation, own_kafka: Server) -> None:
    await _outlast(there, own_kafka[0])


async def test_a_store_that_is_away_for_a_while(there: Installation, own_minio: Server) -> None:
    await _outlast(there, own_minio[0])


async def test_a_run_that_is_cancelled_while_the_broker_is_away(
    there: Installation, own_kafka: Server
) -> None:
    config = example()
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    await asyncio.to_thread(own_kafka[0].stop)
    assert (await there.gateway.cancel(run)).state is RunState.CANCELLING
    await asyncio.to_thread(own_kafka[0].start)
    assert (await there.over(run)).state is RunState.CANCELLED
    assert await there.begin(config) == run
    await there.same_as_alone(run, config)


async def _outlast(there: Installation, server: ServerProcess) -> None:
    config, begun = example(), time.monotonic()
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    async with there.readiness(SERVICES) as told:
        await asyncio.to_thread(server.stop)
        # The length is the case: that something was given up for it tells nobody outside.
        await asyncio.sleep(AWAY)
        await asyncio.to_thread(server.start)
        calls = await there.same_as_alone(run, config)
        await ready(told)
    for stage, (asked, needed) in calls.items():
        assert needed <= asked <= needed + AGAIN[stage]
    assert flapped(told) == {}
    most = 1 + (time.monotonic() - begun) // 60
    for kind, service in there.services.items():
        # Lines without a time continue others.
        lines = [line for line in service.log.read_text("utf-8").splitlines() if line[:2] == "20"]
        loggers = Counter(line.split()[3].partition(".")[0] for line in lines)
        assert max(loggers["kafka"], loggers["urllib3"]) <= most, kind
        assert sum("work is paused" in line for line in lines) <= most, kind
