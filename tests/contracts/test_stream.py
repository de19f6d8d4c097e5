"""What every job stream does. A stream joins by a subclass with `stream` and `topic` fixtures.

Only what a broker with partitions can promise too: order within a key, not between keys; each
message settled once in a group, whichever member gets it. A topic has no end here: that
nothing else is left is shown by a last message of every key, which comes next.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest
from tests.fakes.granted_services import GrantedStream
from tests.fakes.traffic import (
    PATIENCE,
    by_key,
    drained,
    finish,
    lagging,
    message,
    received,
    shared,
)

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import Topic, apply_topics
from caliper.adapters.streams.memory import MemoryStream
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.envelopes import Message
from caliper.pipeline.work.authentic_stream import AuthenticStream
from caliper.ports.stream import Backlog, JobStream

# Names of files as JSON may spell them: half of a pair (it has no UTF-8 form), a whole one, and
# the mark by which Caliper's own way of writing halves begins.
ODD = [
    pytest.param("img\ud800.jpg", id="lone surrogate"),
    pytest.param("b\udce9b\u00e9 \U0001f415", id="surrogate beside letters"),
    pytest.param("\ufdd0d800 \ufdd0", id="mark"),
]


class StreamContract:
    kind: ClassVar[type]

    async def test_the_stream_is_of_its_kind(self, stream: JobStream) -> None:
        assert type(stream) is self.kind

    @pytest.mark.parametrize("odd", ODD)
    async def test_texts_of_every_kind_arrive_as_they_were_published(
        self, stream: JobStream, topic: str, odd: str
    ) -> None:
        headers = {"schema": "1", "name": odd, odd: ""}
        sent = Message(topic, f"run/scene/{odd}", b"\x00\xff bytes", headers)
        await stream.publish(sent)
        consumer = stream.consumer(topic, "judge")
        delivery = await received(consumer)
        assert delivery.message == sent
        assert (delivery.attempt, delivery.crashes) == (1, 0)
        await consumer.dead_letter(delivery, f"MediaMissing: {odd}")
        await finish(stream, topic, [sent.key])
        assert await drained(consumer) == []
        morgue = stream.consumer(DEAD_LETTERS, f"tests-{topic}")
        while (letter := (await received(morgue)).message).headers["origin"] != topic:
            pass
        assert letter.key == sent.key
        assert letter.headers["error"] == f"MediaMissing: {odd}"
        assert letter.headers["name"] == odd
        await morgue.leave()

    async def test_messages_of_a_key_come_in_the_order_of_publishing(
        self, stream: JobStream, topic: str
    ) -> None:
        for number in range(20):
            for key in "abc":
                await stream.publish(message(topic, key, number))
        await finish(stream, topic, "abc")
        found = await drained(stream.consumer(topic, "judge"), keys=3)
        in_order = {key: [f"{key}{number}".encode() for number in range(20)] for key in "abc"}
        assert by_key(found) == in_order
        assert len({delivery.position for delivery in found}) == 60

    async def test_a_consumer_that_came_first_gets_what_is_published_later(
        self, stream: JobStream, topic: str
    ) -> None:
        waiting = asyncio.create_task(drained(stream.consumer(topic, "judge")))
        await stream.publish(message(topic, "a", 0))
        await finish(stream, topic, "a")
        assert by_key(await waiting) == {"a": [b"a0"]}

    async def test_lag_is_what_the_group_has_not_settled(
        self, stream: JobStream, topic: str
    ) -> None:
        for number in range(3):
            await stream.publish(message(topic, "a", number))
        consumer = stream.consumer(topic, "judge")
        held = [await received(consumer) for _ in range(3)]
        assert consumer.trouble is None
        await lagging(consumer, 3)
        for delivery in held:
            await consumer.acknowledge(delivery)
        await lagging(consumer, 0)
        await consumer.leave()

    async def test_the_backlog_is_known_without_members(
        self, stream: JobStream, topic: str
    ) -> None:
        assert await stream.backlog(topic, "judge") == Backlog(0, 0)
        for key in "abc":
            await stream.publish(message(topic, key, 0))
        before = await stream.backlog(topic, "judge")
        assert (before.waiting, before.settled) == (3, 0)
        assert before.oldest == pytest.approx(time.time(), abs=PATIENCE)
        consumer = stream.consumer(topic, "judge")
        held = [await received(consumer) for _ in range(3)]
        for delivery in held[:2]:
            await consumer.acknowledge(delivery)
        await lagging(consumer, 1)
        await consumer.leave()
        after = await stream.backlog(topic, "judge")
        assert (after.waiting, after.settled) == (1, 2)
        assert after.oldest is not None
        assert after.oldest >= before.oldest

    async def test_what_nobody_has_received_is_counted(self, stream: JobStream, topic: str) -> None:
        await asyncio.gather(*(stream.publish(message(topic, key, 0)) for key in "abcdef"))
        assert sum((await stream.untaken(topic, "judge")).values()) == 6
        consumer = stream.consumer(topic, "judge")
        assert len([await received(consumer) for _ in range(3)]) == 3
        while sum((await stream.untaken(topic, "judge")).values()) > 3:  # noqa: ASYNC110 - a broker
            await asyncio.sleep(0.05)
        await consumer.leave()

    async def test_members_of_a_group_share_and_groups_do_not(
        self, stream: JobStream, topic: str
    ) -> None:
        judges = [stream.consumer(topic, "judge") for _ in range(2)]
        watcher = stream.consumer(topic, "watch")
        for number in range(30):
            await stream.publish(message(topic, f"key{number}", 0))
        everything = sorted(f"key{number}0".encode() for number in range(30))
        assert sorted(set(await shared(judges, 30))) == everything
        assert sorted(await shared([watcher], 30)) == everything

    async def test_what_was_not_acknowledged_is_delivered_again_after_leaving(
        self, stream: JobStream, topic: str
    ) -> None:
        for number in range(4):
            await stream.publish(message(topic, "a", number))
        await finish(stream, topic, "a")
        first = stream.consumer(topic, "judge")
        deliveries = [await received(first) for _ in range(3)]
        await first.acknowledge(deliveries[0])
        await first.acknowledge(deliveries[2])
        await first.leave()
        again = await drained(stream.consumer(topic, "judge"))
        assert by_key(again) == {"a": [b"a1", b"a3"]}
        assert {(delivery.attempt, delivery.crashes) for delivery in again} == {(1, 0)}

    async def test_a_retried_delivery_comes_again_with_the_next_attempt(
        self, stream: JobStream, topic: str
    ) -> None:
        await stream.publish(message(topic, "a", 0))
        consumer = stream.consumer(topic, "judge")
        for attempt in (1, 2, 3):
            delivery = await received(consumer)
            assert (delivery.message.value, delivery.attempt) == (b"a0", attempt)
            await consumer.retry(delivery)
        await consumer.acknowledge(await received(consumer))
        await finish(stream, topic, "a")
        assert await drained(consumer) == []

    async def test_the_attempts_outlive_the_member(self, stream: JobStream, topic: str) -> None:
        await stream.publish(message(topic, "a", 0))
        first = stream.consumer(topic, "judge")
        await first.retry(await received(first))
        held = await received(first)
        await first.leave()
        second = stream.consumer(topic, "judge")
        again = await received(second)
        assert (again.message, again.attempt) == (held.message, 2)
        await second.leave()

    async def test_a_dead_letter_says_why_and_where_from(
        self, stream: JobStream, topic: str
    ) -> None:
        sent = message(topic, "a", 0, schema="1")
        await stream.publish(sent)
        consumer = stream.consumer(topic, "judge")
        await consumer.retry(await received(consumer))
        dead = await received(consumer)
        await consumer.dead_letter(dead, "InvalidInput: no such task")
        await finish(stream, topic, "a")
        assert await drained(consumer) == []
        morgue = stream.consumer(DEAD_LETTERS, f"tests-{topic}")
        while (letter := (await received(morgue)).message).headers["origin"] != topic:
            pass
        assert (letter.topic, letter.key, letter.value) == (DEAD_LETTERS, "a", sent.value)
        assert letter.headers == {
            "schema": "1",
            "error": "InvalidInput: no such task",
            "attempts": "2",
            "crashes": "0",
            "origin": topic,
            "origin-partition": str(dead.partition),
            "origin-offset": str(dead.offset),
        }
        await morgue.leave()

    async def test_settling_twice_or_after_leaving_changes_nothing(
        self, stream: JobStream, topic: str
    ) -> None:
        await stream.publish(message(topic, "a", 0))
        first = stream.consumer(topic, "judge")
        delivery = await received(first)
        await first.leave()
        await first.acknowledge(delivery)
        await first.dead_letter(delivery, "too late")
        second = stream.consumer(topic, "judge")
        again = await received(second)
        assert again.message == delivery.message
        await second.acknowledge(again)
        await second.acknowledge(again)
        await second.retry(again)
        await finish(stream, topic, "a")
        assert await drained(second) == []

    async def test_what_was_received_before_draining_can_still_be_settled(
        self, stream: JobStream, topic: str
    ) -> None:
        await stream.publish(message(topic, "a", 0))
        first = stream.consumer(topic, "judge")
        held = await received(first)
        waiting = asyncio.create_task(first.receive())
        await asyncio.sleep(0)
        first.drain()
        assert await waiting is None
        await stream.publish(message(topic, "a", 1))
        assert await first.receive() is None
        await first.acknowledge(held)
        await first.leave()
        await finish(stream, topic, "a")
        assert by_key(await drained(stream.consumer(topic, "judge"))) == {"a": [b"a1"]}

    async def test_leaving_ends_a_receive_that_waits(self, stream: JobStream, topic: str) -> None:
        consumer = stream.consumer(topic, "judge")
        waiting = asyncio.create_task(consumer.receive())
        await asyncio.sleep(0)
        await consumer.leave()
        assert await waiting is None
        assert await consumer.receive() is None


class TestMemoryStream(StreamContract):
    kind = MemoryStream

    @pytest.fixture
    def stream(self) -> JobStream:
        return MemoryStream()

    @pytest.fixture
    def topic(self) -> str:
        return "judge-jobs"


class TestGrantedStream(TestMemoryStream):
    kind = GrantedStream

    @pytest.fixture
    def stream(self) -> JobStream:
        return GrantedStream(MemoryStream(), "judge", set())


class TestSignedStream(TestMemoryStream):
    kind = AuthenticStream

    @pytest.fixture
    def stream(self) -> JobStream:
        return AuthenticStream(MemoryStream(), "judge", b"k" * 64)


class TestKafkaStream(StreamContract):
    kind = KafkaStream

    @pytest.fixture
    async def stream(self, kafka: KafkaAccess) -> AsyncIterator[JobStream]:
        stream = KafkaStream(kafka)
        yield stream
        await stream.close()

    @pytest.fixture
    def topic(self, kafka: KafkaAccess) -> str:
        topics = (Topic("judge-jobs", 3, {}), Topic(DEAD_LETTERS, 1, {}))
        apply_topics(kafka, topics)
        return topics[0].name
