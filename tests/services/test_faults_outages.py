"""Servers below the services that are away for a while, on real Kafka and MinIO.

What is published is given up after 10 s, so that an outage is long enough for calls to fail.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.fakes.readiness import flapped, ready
from tests.fakes.separate import AGAIN, SERVICES, Calls, Ground, Installation, grounded
from tests.fakes.small_runs import example
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka_access import KafkaAccess

Server = tuple[ServerProcess, str]
MIDDLE = 12
AWAY = 20.0


@pytest.fixture
def ground(own_kafka: Server, own_minio: Server, tmp_path: Path) -> Ground:
    """On servers that the test may stop."""
    return grounded(KafkaAccess(own_kafka[1]), own_minio[1], tmp_path)


async def test_a_broker_that_is_away_for_a_while(there: Installation, own_kafka: Server) -> None:
    config = example("broker")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    async with there.readiness(SERVICES) as told:
        await _outage(own_kafka[0])
        calls = await there.same_as_alone(run, config)
        await ready(told)
    _bounded(calls)
    assert flapped(told) == {}


async def test_a_store_that_is_away_for_a_while(there: Installation, own_minio: Server) -> None:
    config = example("store")
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    async with there.readiness(SERVICES) as told:
        await _outage(own_minio[0])
        calls = await there.same_as_alone(run, config)
        await ready(told)
    _bounded(calls)
    assert flapped(told) == {}


async def _outage(server: ServerProcess) -> None:
    await asyncio.to_thread(server.stop)
    # The length is the case: that something was given up for it tells nobody outside.
    await asyncio.sleep(AWAY)
    await asyncio.to_thread(server.start)


def _bounded(calls: Mapping[str, Calls]) -> None:
    for stage, (asked, needed) in calls.items():
        assert needed <= asked <= needed + AGAIN[stage]
