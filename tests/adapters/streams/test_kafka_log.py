"""What only a real broker can show of a log that is read: that it went away."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import pytest
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import Topic, apply_topics
from caliper.core.errors import StreamUnavailable
from caliper.ports.stream import Message, Record

TOPIC = "verdicts"
# Never measured: it only ends a test that would wait for ever.
PATIENCE = 60


def reading(log: KafkaLog, after: int) -> AsyncGenerator[Record]:
    return cast("AsyncGenerator[Record]", log.read(TOPIC, {0: after}))


async def test_whoever_waits_for_records_hears_that_the_broker_is_away(
    own_kafka: tuple[ServerProcess, str],
) -> None:
    broker, address = own_kafka
    access = KafkaAccess(address, patience=2.0)
    apply_topics(access, (Topic(TOPIC, 1, {}),))
    stream, log = KafkaStream(access), KafkaLog(access)
    for value in (b"first", b"second"):
        await stream.publish(Message(TOPIC, "a", value))
    async with asyncio.timeout(PATIENCE), aclosing(reading(log, 0)) as records:
        assert [(await anext(records)).offset for _ in range(2)] == [0, 1]
        waiting = asyncio.ensure_future(anext(records))
        await asyncio.to_thread(broker.stop)
        with pytest.raises(StreamUnavailable, match=TOPIC):
            await waiting
    await asyncio.to_thread(broker.start)
    async with asyncio.timeout(PATIENCE), aclosing(reading(log, 1)) as records:
        assert (await anext(records)).message.value == b"second"
    await stream.close()
