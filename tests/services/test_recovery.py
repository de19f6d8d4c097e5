"""What is left of a run when the topics are lost, or everything but a copy of the store: all of
it. Started again, it asks models only what nobody had kept, and its report is the same.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.call_meter import Meter
from tests.fakes.chat_server import ChatServer
from tests.fakes.kafka_streams import part_of, records
from tests.fakes.separate import (
    AGAIN,
    ENDS_WITHIN,
    SERVICES,
    STAGES,
    Ground,
    Installation,
    grounded,
)
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example
from tests.servers import broker as brokers
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.pipeline.planning.publisher import JUDGE_JOBS, VERDICTS
from caliper.ports.storage import ObjectStore

# Requests of each model until a run is in its middle: enough for verdicts.
MIDDLE = 16
Server = tuple[ServerProcess, str]


@pytest.fixture
def ground(own_kafka: Server, own_minio: Server, tmp_path: Path) -> Iterator[Ground]:
    """On servers that the test may stop."""
    with part_of(own_kafka[1]) as access:
        yield grounded(access, own_minio[1], tmp_path)


@asynccontextmanager
async def in_mid_run(ground: Ground) -> AsyncIterator[tuple[Installation, dict[str, Meter]]]:
    """Services whose models answer a part of what a run asks, and then no more."""
    meters = {kind: Meter(MIDDLE) for kind in STAGES}
    chats = {kind: ChatServer(otherwise=meter) for kind, meter in meters.items()}
    async with installed(ground, chats) as there:
        yield there, meters


async def more_verdicts(kafka: KafkaAccess, run: str, than: int) -> int:
    """How many messages the topic verdicts has of a run, once they are more than that."""
    async with asyncio.timeout(ENDS_WITHIN):
        # A broker says nothing by itself.
        while (found := await _verdicts(kafka, run)) <= than:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return found


async def _verdicts(kafka: KafkaAccess, run: str) -> int:
    return sum(record.message.key.startswith(run) for record in await records(kafka, VERDICTS))


async def lose_topics(broker: ServerProcess, kafka: KafkaAccess) -> None:
    """The broker goes and comes back with nothing, as a new one in its place."""
    await asyncio.to_thread(broker.kill)
    await asyncio.to_thread(brokers.emptied, broker)
    await asyncio.to_thread(broker.start)
    await asyncio.to_thread(apply_topics, kafka, partitions=4)
    assert await records(kafka, JUDGE_JOBS) == []


async def copy(source: ObjectStore, target: ObjectStore) -> None:
    async for key in source.list(""):
        await target.put(key, await source.get(key) or b"")


@pytest.mark.parametrize("copied", [True, False], ids=["a-copy-of-the-store", "the-store"])
async def test_the_store_is_enough(ground: Ground, own_kafka: Server, copied: bool) -> None:
    config = example()
    after = replace(ground, bucket=f"{ground.bucket}-restored") if copied else ground
    async with in_mid_run(ground) as (there, meters), after.store() as store:
        run = await there.begin(config)
        await there.asked("judge", MIDDLE + 1)
        # What it still writes while the store is copied would be asked for again.
        await there.asked("captioner", MIDDLE + 1)
        known = await more_verdicts(ground.kafka, run, 0)
        if copied:
            # As docs/operations.md says: who writes more than what stands for itself rests.
            for kind in ("gateway", "aggregator"):
                await there.stop(kind)
            await copy(there.store, store)
        for kind in SERVICES:
            await there.kill(kind)
        await lose_topics(own_kafka[0], ground.kafka)
        there.store, there.ground = store, after
        for kind in SERVICES:
            service = there.services[kind]
            name = f"caliper_{kind}_store_bucket".upper()
            service.environment = {**service.environment, name: after.bucket}
        for kind in SERVICES:
            await there.again(kind)
        for meter in meters.values():
            meter.allow()
        assert await there.begin(config) == run
        # The new topic has verdicts where the snapshot's place in the lost one was.
        await more_verdicts(ground.kafka, run, known)
        await there.kill("aggregator")
        await there.again("aggregator")
        calls = await there.same_as_alone(run, config)
    for kind, told in calls.items():
        assert told.needed <= told.asked <= told.needed + AGAIN[kind], kind
