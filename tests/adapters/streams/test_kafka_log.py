"""What only a real broker can show of a log that is read: that it grew, or went away."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import cast

import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.fault_schedules import patient
from tests.fakes.kafka_streams import hasty, new_topic, publish, received, streaming
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka import KafkaMember, KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import Topic, apply_topics, describe
from caliper.core.envelopes import Delivery, Message, Record
from caliper.core.errors import StreamUnavailable

TOPIC = "verdicts"


def reading(log: KafkaLog, after: int, topic: str = TOPIC) -> AsyncGenerator[Record]:
    return cast("AsyncGenerator[Record]", log.read(topic, {0: after}))


async def everything_until_it_is_away(member: KafkaMember) -> list[Delivery]:
    found = []
    try:
        while True:
            found.append(await received(member))
    except StreamUnavailable:
        return found


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_a_broker_that_is_away_for_a_while_is_noticed_and_loses_nothing(
    own_kafka: tuple[ServerProcess, str], end: str
) -> None:
    broker, access = own_kafka[0], hasty(KafkaAccess(own_kafka[1]), patience=5.0)
    topic, log, settled, count = new_topic(access, 3), new_topic(access), list[bytes](), 100
    records = reading(KafkaLog(access), 0, log)
    async with streaming(access) as stream:
        await publish(stream, log, 2)
        await publish(stream, topic, count // 2)
        member = stream.consumer(topic, "judge")
        held = [await received(member) for _ in range(20)]
        watcher = stream.consumer(topic, "watch")
        await watcher.acknowledge(await received(watcher))
        async with aclosing(records):
            assert [(await anext(records)).offset for _ in range(2)] == [0, 1]
            waiting = asyncio.ensure_future(anext(records))
            await asyncio.to_thread(getattr(broker, end))
            with pytest.raises(StreamUnavailable, match=log):
                await waiting
        with pytest.raises(StreamUnavailable):
            await stream.publish(Message(topic, "a", b"not confirmed"))
        held += await everything_until_it_is_away(member)
        await watcher.leave()
        await asyncio.to_thread(broker.start)
        for number in range(count // 2, count):
            # It may not lead the partitions yet.
            message = Message(topic, f"key{number}", str(number).encode())
            await patient(partial(stream.publish, message))
        for delivery in held:
            await member.acknowledge(delivery)
            settled.append(delivery.message.value)
        while set(settled) - {b"not confirmed"} != {str(each).encode() for each in range(count)}:
            delivery = await received(member)
            settled.append(delivery.message.value)
            await member.acknowledge(delivery)
        await member.leave()
        async with aclosing(reading(KafkaLog(access), 1, log)) as records:
            assert (await anext(records)).message.value == b"1"


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
        # Who asks before the broker knows them writes to the first for a minute.
        while (await asyncio.to_thread(describe, kafka)).partitions[kafka.full_name(TOPIC)] < 4:
            pass
        for key in keys:
            await after.publish(Message(TOPIC, key, key.encode()))
        found = [await anext(records) for _ in keys]
    assert sorted(record.message.key for record in found) == sorted(keys)
    assert {record.partition for record in found} == {0, 1, 2, 3}
    for partition in (1, 2, 3):
        assert min(record.offset for record in found if record.partition == partition) == 0
    await before.close()
    await after.close()
