"""What only a real broker can show: topics, membership, and a cluster that is away."""

import asyncio
from uuid import uuid4

import pytest
from tests.fakes.kafka_streams import PATIENCE, hasty, new_topic, publish, received, streaming
from tests.servers.process import ServerProcess, free_ports

from caliper.adapters.streams.kafka import KafkaMember
from caliper.adapters.streams.kafka_access import LARGEST_MESSAGE, KafkaAccess
from caliper.adapters.streams.kafka_topics import TOPICS, Topic, apply_topics
from caliper.core.envelopes import Delivery, Message
from caliper.core.errors import InvalidInput, StreamUnavailable


def names(count: int) -> list[bytes]:
    return sorted(str(number).encode() for number in range(count))


def test_topics_are_applied_once_and_mended_later(kafka: str) -> None:
    access, prefix = KafkaAccess(kafka), uuid4().hex[:8]
    topics = tuple(
        Topic(f"{prefix}-{topic.name}", topic.partitions, topic.settings) for topic in TOPICS
    )
    created = apply_topics(access, topics, partitions=3)
    assert created == [
        f"created {topic.name} with {topic.partitions or 3} partitions" for topic in topics
    ]
    assert apply_topics(access, topics, partitions=3) == []
    grown = apply_topics(access, topics, partitions=4)
    assert grown == [
        f"{topic.name}: 4 partitions, before 3" for topic in topics if topic.partitions is None
    ]
    assert apply_topics(access, topics, partitions=3) == []
    runs = next(topic for topic in topics if topic.name.endswith("-runs"))
    apply_topics(access, (Topic(runs.name, 1, {"cleanup.policy": "delete"}),))
    assert apply_topics(access, topics, partitions=3) == [
        f"{runs.name}: cleanup.policy=compact, before delete"
    ]


async def test_a_message_has_an_upper_size(kafka: str) -> None:
    topic = new_topic(kafka)
    apply_topics(KafkaAccess(kafka), (Topic(topic, 1, TOPICS[0].settings),))
    async with streaming(KafkaAccess(kafka)) as stream:
        with pytest.raises(InvalidInput, match=str(LARGEST_MESSAGE)):
            await stream.publish(Message(topic, "a", b"x" * LARGEST_MESSAGE))
        largest = b"x" * (LARGEST_MESSAGE - 1000)
        await stream.publish(Message(topic, "a", largest))
        member = stream.consumer(topic, "judge")
        assert (await received(member)).message.value == largest
        await member.leave()


async def test_nobody_there_is_said_after_a_while() -> None:
    [port] = free_ports(1)
    async with streaming(KafkaAccess(f"127.0.0.1:{port}", patience=0.5)) as stream:
        with pytest.raises(StreamUnavailable, match="judge-jobs"):
            await stream.publish(Message("judge-jobs", "a", b""))
        member = stream.consumer("judge-jobs", "judge")
        with pytest.raises(StreamUnavailable, match="judge-jobs"):
            await received(member)
        await member.leave()


async def test_a_topic_that_is_not_there_is_said_after_a_while(kafka: str) -> None:
    topic = f"never-{uuid4().hex[:8]}"
    async with streaming(KafkaAccess(kafka, patience=0.5)) as stream:
        with pytest.raises(StreamUnavailable, match=topic):
            await stream.publish(Message(topic, "a", b""))
        member = stream.consumer(topic, "judge")
        with pytest.raises(StreamUnavailable, match=topic):
            await received(member)
        await member.leave()


async def test_a_job_longer_than_every_limit_keeps_the_membership(kafka: str) -> None:
    topic, access = new_topic(kafka), hasty(kafka)
    async with streaming(access) as stream:
        await publish(stream, topic, 1)
        member = stream.consumer(topic, "judge")
        long = await received(member)
        other = stream.consumer(topic, "judge")
        elsewhere = asyncio.create_task(other.receive())
        # That nothing happens while the limit passes is the case: there is no event of it.
        await asyncio.sleep(3 * access.longest_pause)
        assert not elsewhere.done()
        await member.acknowledge(long)
        await member.leave()
        await publish(stream, topic, 1)
        again = await elsewhere
        assert again is not None
        assert again.offset == 1
        await other.leave()


async def test_members_come_and_go_and_every_message_is_settled(kafka: str) -> None:
    topic, settled, count = new_topic(kafka, 6), set[bytes](), 300
    changed = asyncio.Condition()

    async def work(member: KafkaMember) -> None:
        while (delivery := await member.receive()) is not None:
            await member.acknowledge(delivery)
            async with changed:
                settled.add(delivery.message.value)
                changed.notify_all()

    async with streaming(hasty(kafka)) as stream, asyncio.TaskGroup() as group:
        members: list[KafkaMember] = []
        for part in range(3):
            # One more joins, and from the second time on the oldest leaves.
            members.append(stream.consumer(topic, "judge"))
            group.create_task(work(members[-1]))
            if part:
                await members.pop(0).leave()
            for number in range(100 * part, 100 * part + 100):
                await stream.publish(Message(topic, f"key{number}", str(number).encode()))
            async with asyncio.timeout(PATIENCE), changed:
                await changed.wait_for(lambda part=part: len(settled) >= 100 * part + 50)
        async with asyncio.timeout(PATIENCE), changed:
            await changed.wait_for(lambda: len(settled) == count)
        for member in members:
            await member.leave()
    assert sorted(settled) == names(count)


async def test_a_long_backlog_flows_through_pauses_to_its_end(kafka: str) -> None:
    # kafka-python 3.0.12 parks what it fetched for a paused partition, and forgot some of it.
    topic, results, count = new_topic(kafka, 4), new_topic(kafka, 4), 1500
    async with streaming(KafkaAccess(kafka)) as stream:
        room = asyncio.Semaphore(64)

        async def publish_one(number: int) -> None:
            async with room:
                await stream.publish(Message(topic, f"key{number}", b"x" * 3000))

        await asyncio.gather(*(publish_one(number) for number in range(count)))
        member = stream.consumer(topic, "judge")

        async def work(delivery: Delivery) -> None:
            await stream.publish(Message(results, delivery.message.key, b"y"))
            await member.acknowledge(delivery)
            room.release()

        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                await room.acquire()
                group.create_task(work(await received(member)))
        await member.leave()


async def everything_until_it_is_away(member: KafkaMember) -> list[Delivery]:
    found = []
    try:
        while True:
            found.append(await received(member))
    except StreamUnavailable:
        return found


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_a_broker_that_is_away_for_a_while_loses_nothing(
    own_kafka: tuple[ServerProcess, str], end: str
) -> None:
    broker, address = own_kafka
    topic, settled, count = new_topic(address, 3), list[bytes](), 200
    async with streaming(hasty(address, patience=5.0)) as stream:
        await publish(stream, topic, count // 2)
        member = stream.consumer(topic, "judge")
        held = [await received(member) for _ in range(20)]
        watcher = stream.consumer(topic, "watch")
        await watcher.acknowledge(await received(watcher))
        await asyncio.to_thread(getattr(broker, end))
        with pytest.raises(StreamUnavailable):
            await stream.publish(Message(topic, "a", b"not confirmed"))
        held += await everything_until_it_is_away(member)
        async with asyncio.timeout(PATIENCE):
            await watcher.leave()
        await asyncio.to_thread(broker.start)
        for number in range(count // 2, count):
            await stream.publish(Message(topic, f"key{number}", str(number).encode()))
        for delivery in held:
            await member.acknowledge(delivery)
            settled.append(delivery.message.value)
        while set(settled) - {b"not confirmed"} != set(names(count)):
            delivery = await received(member)
            settled.append(delivery.message.value)
            await member.acknowledge(delivery)
        await member.leave()
