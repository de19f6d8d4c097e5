"""What every log reader does. One joins by a subclass with a `log` fixture: a stream that is
published to, and read. Its topics are empty at first and may have many partitions.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import ClassVar, Protocol
from uuid import uuid4

import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.granted_services import GrantedStream

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import Topic, apply_topics
from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message, Record
from caliper.pipeline.aggregation.log_fan_out import LogFanOut
from caliper.ports.stream import JobStream, LogReader


class ReadableStream(JobStream, LogReader, Protocol):
    """A stream whose topics are read as logs."""


class Kafka(KafkaStream):
    def __init__(self, access: KafkaAccess) -> None:
        super().__init__(access)
        self.logs = KafkaLog(access)

    def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        return self.logs.read(topic, offsets)

    async def ends(self, topic: str) -> Mapping[int, int]:
        return await self.logs.ends(topic)

    async def identity(self, topic: str) -> str:
        return await self.logs.identity(topic)


async def first(log: LogReader, topic: str, count: int, offsets: Mapping[int, int]) -> list[Record]:
    """So many records, from these offsets on."""
    found: list[Record] = []
    reading = log.read(topic, offsets)
    async with asyncio.timeout(PATIENCE), aclosing(reading):
        while len(found) < count:
            found.append(await anext(reading))
    return found


def offsets_after(records: list[Record]) -> dict[int, int]:
    return {record.partition: record.offset + 1 for record in records}


async def fill(log: JobStream, topic: str, count: int, keys: str = "abc") -> list[Message]:
    messages = [
        Message(topic, key, f"{key}{number}".encode(), {"number": str(number)})
        for number in range(count)
        for key in keys
    ]
    for message in messages:
        await log.publish(message)
    return messages


class LogReaderContract:
    kind: ClassVar[type]

    @pytest.fixture
    def reader(self, log: ReadableStream) -> LogReader:
        """What reads the stream: itself where it can."""
        return log

    async def test_the_reader_is_of_its_kind(self, reader: LogReader) -> None:
        assert type(reader) is self.kind

    @pytest.fixture
    def topic(self) -> str:
        return f"verdicts-{uuid4().hex[:8]}"

    async def test_everything_is_read_as_it_was_published(
        self, log: ReadableStream, topic: str
    ) -> None:
        messages = await fill(log, topic, 4)
        found = await first(log, topic, 12, {})
        for key in "abc":
            own = [record.message for record in found if record.message.key == key]
            assert own == [message for message in messages if message.key == key]

    async def test_a_lone_surrogate_is_read_as_it_was_published(
        self, log: ReadableStream, topic: str
    ) -> None:
        sent = Message(topic, "run/scene/img\ud800.jpg", b"x", {"error": "no \udfff here"})
        await log.publish(sent)
        (record,) = await first(log, topic, 1, {})
        assert record.message == sent

    async def test_offsets_grow_and_timestamps_tell_when(
        self, log: ReadableStream, topic: str
    ) -> None:
        begun = datetime.now(UTC).timestamp() * 1000
        await fill(log, topic, 4)
        found = await first(log, topic, 12, {})
        for partition in {record.partition for record in found}:
            offsets = [record.offset for record in found if record.partition == partition]
            assert offsets == sorted(set(offsets))
        ended = datetime.now(UTC).timestamp() * 1000
        assert all(begun - 1 <= record.timestamp <= ended + 1 for record in found)

    async def test_reading_goes_on_where_offsets_say(self, log: ReadableStream, topic: str) -> None:
        await fill(log, topic, 3)
        whole = await first(log, topic, 9, {})
        start = offsets_after(whole[:5])
        rest = await first(log, topic, 4, start)
        assert sorted(map(repr, rest)) == sorted(map(repr, whole[5:]))

    async def test_what_is_published_later_is_read_too(
        self, log: ReadableStream, topic: str
    ) -> None:
        await fill(log, topic, 1, "a")
        reading = asyncio.create_task(first(log, topic, 2, {}))
        await fill(log, topic, 1, "b")
        # Partitions have no order between them.
        assert {record.message.value for record in await reading} == {b"a0", b"b0"}

    async def test_readers_and_groups_take_nothing_from_each_other(
        self, log: ReadableStream, topic: str
    ) -> None:
        await fill(log, topic, 2, "a")
        consumer = log.consumer(topic, "watch")
        async with asyncio.timeout(PATIENCE):
            for _ in range(2):
                delivery = await consumer.receive()
                assert delivery is not None
                await consumer.acknowledge(delivery)
        await consumer.leave()
        one, other = await asyncio.gather(*(first(log, topic, 2, {}) for _ in range(2)))
        assert one == other
        assert [record.message.value for record in one] == [b"a0", b"a1"]

    async def test_ends_tell_how_far_the_log_is(self, log: ReadableStream, topic: str) -> None:
        await fill(log, topic, 3)
        found = await first(log, topic, 9, {})
        assert await log.ends(topic) == offsets_after(found)

    async def test_a_place_beyond_the_end_is_none_of_this_log(
        self, log: ReadableStream, topic: str
    ) -> None:
        messages = await fill(log, topic, 2, "a")
        beyond = {0: 1000, 1: 1000, 2: 1000}
        found = await first(log, topic, 2, beyond)
        assert [record.message for record in found] == messages

    async def test_a_log_is_the_same_as_long_as_it_is_there(
        self, log: ReadableStream, topic: str
    ) -> None:
        before = await log.identity(topic)
        await fill(log, topic, 1)
        assert before != ""
        assert await log.identity(topic) == before

    async def test_a_log_without_a_record_has_no_end(self, log: ReadableStream, topic: str) -> None:
        assert await log.ends(topic) == {}


class TestMemoryLog(LogReaderContract):
    kind = MemoryStream

    @pytest.fixture
    def log(self, topic: str) -> ReadableStream:
        return MemoryStream(capacity=2, logs={topic})

    async def test_a_topic_that_is_no_log_is_not_read(self) -> None:
        with pytest.raises(ValueError, match="not kept as a log"):
            await MemoryStream().ends("verdicts")

    async def test_another_stream_has_other_logs(self, topic: str, log: ReadableStream) -> None:
        assert await MemoryStream(logs={topic}).identity(topic) != await log.identity(topic)

    async def test_a_log_that_is_read_once_lets_go_of_what_was_read(self, topic: str) -> None:
        log = MemoryStream(logs={topic}, once=True)
        messages = await fill(log, topic, 3, keys="a")
        assert [record.message for record in await first(log, topic, 2, {})] == messages[:2]
        # The second was handed out, and not passed: its reader may have failed to enter it.
        assert [record.offset for record in await first(log, topic, 2, {0: 1})] == [1, 2]
        assert await log.ends(topic) == {0: 3}

    async def test_reading_ends_with_a_closed_topic(self, topic: str, log: ReadableStream) -> None:
        await fill(log, topic, 1)
        await log.close_topic(topic)
        assert [record.offset async for record in log.read(topic, {0: 1})] == [1, 2]


class TestGrantedLog(LogReaderContract):
    kind = GrantedStream

    @pytest.fixture
    def log(self, topic: str) -> ReadableStream:
        return GrantedStream(MemoryStream(logs=(topic,)), "aggregator", set())


class Plain:
    """Reads a stream in memory past its shared log."""

    def __init__(self, stream: MemoryStream) -> None:
        self.stream = stream

    def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        return MemoryStream.read(self.stream, topic, offsets)

    async def ends(self, topic: str) -> Mapping[int, int]:
        return await self.stream.ends(topic)

    async def identity(self, topic: str) -> str:
        return await self.stream.identity(topic)


class SharedStream(MemoryStream):
    """A stream in memory that is read by a shared log."""

    def __init__(self, topic: str) -> None:
        super().__init__(capacity=2, logs={topic})
        self.logs = LogFanOut(Plain(self))

    def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        return self.logs.read(topic, offsets)


class TestSharedLog(LogReaderContract):
    kind = LogFanOut

    @pytest.fixture
    def log(self, topic: str) -> ReadableStream:
        return SharedStream(topic)

    @pytest.fixture
    def reader(self, log: ReadableStream) -> LogReader:
        assert isinstance(log, SharedStream)
        return log.logs


class TestKafkaLog(LogReaderContract):
    kind = KafkaLog

    @pytest.fixture
    def topic(self, kafka: KafkaAccess) -> str:
        topic = Topic("verdicts", 3, {})
        apply_topics(kafka, (topic,))
        return topic.name

    @pytest.fixture
    async def log(self, kafka: KafkaAccess) -> AsyncIterator[ReadableStream]:
        stream = Kafka(kafka)
        yield stream
        await stream.close()

    @pytest.fixture
    def reader(self, log: ReadableStream) -> LogReader:
        assert isinstance(log, Kafka)
        return log.logs
