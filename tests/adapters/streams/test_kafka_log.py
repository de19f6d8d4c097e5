"""What only a real broker can show of a log that is read: that it grew, or went away."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import cast

import pytest
from tests.fakes.clock import PATIENCE
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import Topic, apply_topics
from caliper.core.envelopes import Message, Record
from caliper.core.errors import StreamUnavailable

TOPIC = "verdicts"


def reading(log: KafkaLog, after: int) -> AsyncGenerator[Record]:
    return cast("AsyncGenerator[Record]", log.read(TOPIC, {0: after}))


async def test_whoever_waits_for_records_hears_that_the_broker_is_away(
    own_kafka: tuple[ServerProcess, str],
) -> None:
    broker, address = own_kafka
    access = KafkaAccess(address)
    apply_topics(access, (Topic(TOPIC, 1, {}),))
    stream, log = KafkaStream(access), KafkaLog(access)
    impatient = KafkaLog(replace(access, patience=5.0))
    for value in (b"first", b"second"):
        await stream.publish(Message(TOPIC, "a", value))
    async with asyncio.timeout(PATIENCE), aclosing(reading(impatient, 0)) as records:
        assert [(await anext(records)).offset for _ in range(2)] == [0, 1]
        waiting = asyncio.ensure_future(anext(records))
        await asyncio.to_thread(broker.stop)
        with pytest.raises(StreamUnavailable, match=TOPIC):
            await waiting
    await asyncio.to_thread(broker.start)
    async with asyncio.timeout(PATIENCE), aclosing(reading(log, 1)) as records:
        assert (await anext(records)).message.value == b"second"
    await stream.close()


async def test_a_topic_that_was_made_anew_is_another_log(kafka: KafkaAccess) -> None:
    log, topics = KafkaLog(kafka), (Topic(TOPIC, 1, {}),)
    with pytest.raises(StreamUnavailable, match=kafka.full_name(TOPIC)):
        await log.identity(TOPIC)
    await asyncio.to_thread(apply_topics, kafka, topics)
    before = await log.identity(TOPIC)
    async with asyncio.timeout(PATIENCE):
        await anew(kafka, topics)
    assert await log.identity(TOPIC) not in (before, "")


async def test_whoever_reads_a_topic_that_is_made_anew_hears_of_it(kafka: KafkaAccess) -> None:
    log, topics = KafkaLog(kafka), (Topic(TOPIC, 1, {}),)
    before, after = KafkaStream(kafka), KafkaStream(kafka)
    await asyncio.to_thread(apply_topics, kafka, topics)
    await before.publish(Message(TOPIC, "a", b"lost"))
    records = reading(log, 0)
    async with asyncio.timeout(PATIENCE), aclosing(records):
        assert (await anext(records)).message.value == b"lost"
        await anew(kafka, topics)
        # Where the first one had been read up to, so that no place is out of range.
        for value in (b"passed over", b"next"):
            await after.publish(Message(TOPIC, "a", value))
        with pytest.raises(StreamUnavailable, match=kafka.full_name(TOPIC)):
            await read_on(records)
    await before.close()
    await after.close()


async def read_on(records: AsyncGenerator[Record]) -> None:
    async for _ in records:
        pass


async def anew(access: KafkaAccess, topics: tuple[Topic, ...]) -> None:
    await asyncio.to_thread(delete, access, topics[0].name)
    # Until the broker has forgotten it, it is there for whoever makes it.
    while not await asyncio.to_thread(apply_topics, access, topics):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def delete(access: KafkaAccess, name: str) -> None:
    admin = access.admin()
    admin.delete_topics([access.full_name(name)])
    admin.close()


async def test_partitions_that_are_added_under_a_reader_are_read_from_their_start(
    kafka: KafkaAccess,
) -> None:
    keys = [f"run-{number}" for number in range(32)]
    await asyncio.to_thread(apply_topics, kafka, (Topic(TOPIC, 1, {}),))
    before, after = KafkaStream(kafka), KafkaStream(kafka)
    await before.publish(Message(TOPIC, "a", b"before"))
    records = reading(KafkaLog(kafka), 0)
    async with asyncio.timeout(PATIENCE), aclosing(records):
        assert (await anext(records)).message.value == b"before"
        await asyncio.to_thread(apply_topics, kafka, (Topic(TOPIC, 4, {}),))
        for key in keys:
            await after.publish(Message(TOPIC, key, key.encode()))
        found = [await anext(records) for _ in keys]
    assert sorted(record.message.key for record in found) == sorted(keys)
    assert {record.partition for record in found} == {0, 1, 2, 3}
    for partition in (1, 2, 3):
        assert min(record.offset for record in found if record.partition == partition) == 0
    await before.close()
    await after.close()
