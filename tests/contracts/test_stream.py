"""What every job stream does. A stream joins by a subclass with a `stream` fixture.

Only what a broker with partitions can promise too: order within a key, not between keys;
each message settled once in a group, whichever member gets it.
"""

import asyncio
from collections import defaultdict
from uuid import uuid4

import pytest

from caliper.adapters.streams.memory import MemoryStream
from caliper.ports.stream import Consumer, Delivery, JobStream, Message

# Never measured: it only ends a test whose stream lost a message.
PATIENCE = 60


def message(topic: str, key: str, number: int, **headers: str) -> Message:
    return Message(topic, key, f"{key}{number}".encode(), headers)


async def received(consumer: Consumer) -> Delivery:
    async with asyncio.timeout(PATIENCE):
        delivery = await consumer.receive()
    assert delivery is not None
    return delivery


async def drained(consumer: Consumer) -> list[Delivery]:
    """Everything to the end of a closed topic, acknowledged one by one."""
    found = []
    async with asyncio.timeout(PATIENCE):
        while (delivery := await consumer.receive()) is not None:
            found.append(delivery)
            await consumer.acknowledge(delivery)
    return found


def by_key(deliveries: list[Delivery]) -> dict[str, list[bytes]]:
    found = defaultdict(list)
    for delivery in deliveries:
        found[delivery.message.key].append(delivery.message.value)
    return dict(found)


class StreamContract:
    """The contract of ports.stream.JobStream."""

    @pytest.fixture
    def topic(self) -> str:
        return f"judge-jobs-{uuid4().hex[:8]}"

    async def test_a_message_arrives_as_it_was_published(
        self, stream: JobStream, topic: str
    ) -> None:
        sent = Message(topic, "run/scene/1", b"\x00\xff bytes", {"schema": "1", "trace": "a=b"})
        await stream.publish(sent)
        consumer = stream.consumer(topic, "judge")
        delivery = await received(consumer)
        assert delivery.message == sent
        assert delivery.attempt == 1
        await consumer.acknowledge(delivery)
        await consumer.leave()

    async def test_messages_of_a_key_come_in_the_order_of_publishing(
        self, stream: JobStream, topic: str
    ) -> None:
        for number in range(20):
            for key in "abc":
                await stream.publish(message(topic, key, number))
        await stream.close_topic(topic)
        found = await drained(stream.consumer(topic, "judge"))
        in_order = {key: [f"{key}{number}".encode() for number in range(20)] for key in "abc"}
        assert by_key(found) == in_order
        assert len({delivery.position for delivery in found}) >= 20

    async def test_a_consumer_that_came_first_gets_what_is_published_later(
        self, stream: JobStream, topic: str
    ) -> None:
        waiting = asyncio.create_task(drained(stream.consumer(topic, "judge")))
        await stream.publish(message(topic, "a", 0))
        await stream.close_topic(topic)
        assert by_key(await waiting) == {"a": [b"a0"]}

    async def test_members_of_a_group_share_and_groups_do_not(
        self, stream: JobStream, topic: str
    ) -> None:
        members = [stream.consumer(topic, group) for group in ("judge", "judge", "watch")]
        for number in range(30):
            await stream.publish(message(topic, f"key{number}", 0))
        await stream.close_topic(topic)
        first, second, other = await asyncio.gather(*map(drained, members))
        everything = sorted(f"key{number}0".encode() for number in range(30))
        assert sorted(delivery.message.value for delivery in first + second) == everything
        assert sorted(delivery.message.value for delivery in other) == everything

    async def test_what_was_not_acknowledged_is_delivered_again_after_leaving(
        self, stream: JobStream, topic: str
    ) -> None:
        for number in range(4):
            await stream.publish(message(topic, "a", number))
        await stream.close_topic(topic)
        first = stream.consumer(topic, "judge")
        deliveries = [await received(first) for _ in range(3)]
        await first.acknowledge(deliveries[0])
        await first.leave()
        again = await drained(stream.consumer(topic, "judge"))
        assert by_key(again) == {"a": [b"a1", b"a2", b"a3"]}
        assert {delivery.attempt for delivery in again} == {1}

    async def test_a_backlog_waits_for_a_consumer_to_come_back(
        self, stream: JobStream, topic: str
    ) -> None:
        first = stream.consumer(topic, "judge")
        await stream.publish(message(topic, "a", 0))
        await first.acknowledge(await received(first))
        await first.leave()
        for number in (1, 2):
            await stream.publish(message(topic, "a", number))
        await stream.close_topic(topic)
        assert by_key(await drained(stream.consumer(topic, "judge"))) == {"a": [b"a1", b"a2"]}

    async def test_a_retried_delivery_comes_before_later_ones_of_its_key(
        self, stream: JobStream, topic: str
    ) -> None:
        for number in range(3):
            await stream.publish(message(topic, "a", number))
        await stream.close_topic(topic)
        consumer = stream.consumer(topic, "judge")
        for attempt in (1, 2):
            delivery = await received(consumer)
            assert (delivery.message.value, delivery.attempt) == (b"a0", attempt)
            await consumer.retry(delivery)
        found = await drained(consumer)
        assert [(each.message.value, each.attempt) for each in found] == [
            (b"a0", 3), (b"a1", 1), (b"a2", 1)
        ]  # fmt: skip

    async def test_a_dead_letter_says_why_and_where_from(
        self, stream: JobStream, topic: str
    ) -> None:
        sent = message(topic, "a", 0, schema="1")
        await stream.publish(sent)
        await stream.close_topic(topic)
        consumer = stream.consumer(topic, "judge")
        await consumer.retry(await received(consumer))
        await consumer.dead_letter(await received(consumer), "InvalidInput: no such task")
        assert await drained(consumer) == []
        morgue = stream.consumer("dead-letters", f"tests-{topic}")
        letter = (await received(morgue)).message
        assert (letter.topic, letter.key, letter.value) == ("dead-letters", "a", sent.value)
        assert letter.headers == {
            "schema": "1",
            "error": "InvalidInput: no such task",
            "attempts": "2",
            "origin": topic,
        }
        await morgue.leave()

    async def test_an_empty_topic_that_is_closed_ends_at_once(
        self, stream: JobStream, topic: str
    ) -> None:
        await stream.close_topic(topic)
        assert await drained(stream.consumer(topic, "judge")) == []

    async def test_settling_twice_or_after_leaving_changes_nothing(
        self, stream: JobStream, topic: str
    ) -> None:
        await stream.publish(message(topic, "a", 0))
        await stream.close_topic(topic)
        first = stream.consumer(topic, "judge")
        delivery = await received(first)
        await first.leave()
        await first.acknowledge(delivery)
        second = stream.consumer(topic, "judge")
        again = await received(second)
        assert again.message == delivery.message
        await second.acknowledge(again)
        await second.acknowledge(again)
        assert await drained(second) == []


class TestMemoryStream(StreamContract):
    @pytest.fixture
    def stream(self) -> JobStream:
        return MemoryStream()
