"""Streams on a real broker, with topics of the test's own and short time limits."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from uuid import uuid4

from caliper.adapters.streams.kafka import KafkaMember, KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import Topic, apply_topics
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.envelopes import Delivery, Message, Record
from caliper.core.errors import StreamUnavailable

PATIENCE = 60


@contextmanager
def part_of(servers: str) -> Iterator[KafkaAccess]:
    """A prefix of its own, whose topics are deleted in the end."""
    access = KafkaAccess(servers, prefix=f"{uuid4().hex[:8]}-")
    yield access
    admin = access.admin()
    admin.delete_topics([name for name in admin.list_topics() if name.startswith(access.prefix)])
    admin.close()


def hasty(access: KafkaAccess, patience: float = PATIENCE) -> KafkaAccess:
    """Access with time limits short enough for a test, and long enough for a member that a loaded
    machine holds up; `patience` applies if the broker is to be unavailable.
    """
    return replace(access, patience=patience, session=6.0, longest_pause=20.0)


def new_topic(access: KafkaAccess, partitions: int = 1) -> str:
    topic = Topic(f"jobs-{uuid4().hex[:8]}", partitions, {})
    apply_topics(access, (topic, Topic(DEAD_LETTERS, 1, {})))
    return topic.name


@asynccontextmanager
async def streaming(access: KafkaAccess) -> AsyncIterator[KafkaStream]:
    stream = KafkaStream(access)
    try:
        yield stream
    finally:
        await stream.close()


async def received(member: KafkaMember) -> Delivery:
    async with asyncio.timeout(PATIENCE):
        delivery = await member.receive()
    assert delivery is not None
    return delivery


async def publish(stream: KafkaStream, topic: str, count: int) -> None:
    for number in range(count):
        await stream.publish(Message(topic, f"key{number}", str(number).encode()))


async def use(servers: str) -> None:
    """Have a broker do what most tests want: a topic, a message, and a member that settles it."""
    with part_of(servers) as access:
        topic = new_topic(access)
        async with streaming(access) as stream:
            await publish(stream, topic, 1)
            member = stream.consumer(topic, "users")
            await member.acknowledge(await received(member))
            await member.leave()


async def records(access: KafkaAccess, topic: str) -> list[Record]:
    """All records of a topic. Reading starts again, as every reader's does, if Kafka does not
    answer in time.
    """
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(StreamUnavailable):
                return await _records(KafkaLog(access), topic)


async def _records(log: KafkaLog, topic: str) -> list[Record]:
    # A compacted topic has fewer records than its offsets suggest.
    ends = dict(await log.ends(topic))
    retained: list[Record] = []
    async with aclosing(log.read(topic, {})) as reading:
        while ends:
            record = await anext(reading)
            retained.append(record)
            if record.offset + 1 >= ends.get(record.partition, 0):
                ends.pop(record.partition, None)
    return retained
