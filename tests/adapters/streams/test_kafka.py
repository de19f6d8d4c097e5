"""What only a real broker can show: topics, membership, and a cluster that is away."""

import asyncio
from contextlib import closing
from dataclasses import replace

import pytest
from tests.fakes.groups import members
from tests.fakes.kafka_streams import (
    PATIENCE,
    hasty,
    new_topic,
    publish,
    received,
    records,
    streaming,
)
from tests.servers.process import free_ports

from caliper.adapters.streams.kafka import KafkaMember
from caliper.adapters.streams.kafka_access import LARGEST_MESSAGE, KafkaAccess
from caliper.adapters.streams.kafka_topics import TOPICS, Topic, apply_topics, describe
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.envelopes import Delivery, Message
from caliper.core.errors import InvalidInput, StreamUnavailable
from caliper.pipeline.planning.publisher import JUDGE_JOBS


def names(count: int) -> list[bytes]:
    return sorted(str(number).encode() for number in range(count))


def test_topics_are_applied_once_and_mended_later(kafka: KafkaAccess) -> None:
    topics = {kafka.full_name(topic.name): topic.partitions for topic in TOPICS}
    created = apply_topics(kafka, partitions=3)
    assert created == [f"created {name} with {own or 3} partitions" for name, own in topics.items()]
    assert apply_topics(kafka, partitions=3) == []
    grown = apply_topics(kafka, partitions=4)
    assert grown == [f"{name}: 4 partitions, before 3" for name, own in topics.items() if not own]
    assert apply_topics(kafka, partitions=3) == []
    apply_topics(kafka, (Topic("runs", 1, {"cleanup.policy": "delete"}),))
    # A broker shows a setting a moment after it was changed.
    while not (mended := apply_topics(kafka, partitions=3)):
        pass
    assert mended == [f"{kafka.full_name('runs')}: cleanup.policy=compact, before delete"]


async def test_installations_on_one_broker_do_not_see_each_other(kafka: KafkaAccess) -> None:
    other = replace(kafka, prefix=f"{kafka.prefix}other-")
    apply_topics(kafka, partitions=1)
    assert set(describe(other).missing) == {other.full_name(topic.name) for topic in TOPICS}
    apply_topics(other, partitions=1)
    for access in (kafka, other):
        async with streaming(access) as stream:
            await stream.publish(Message(JUDGE_JOBS, "a", access.prefix.encode()))
    for access in (kafka, other):
        async with streaming(access) as stream:
            member = stream.consumer(JUDGE_JOBS, JUDGE_JOBS)
            job = await received(member)
            assert job.message == Message(JUDGE_JOBS, "a", access.prefix.encode())
            # In a group of the installation's own.
            await members(access, JUDGE_JOBS, 1)
            await member.dead_letter(job, "NotFound: it is gone")
            await member.leave()
        (dead,) = await records(access, DEAD_LETTERS)
        assert dead.message.value == access.prefix.encode()
        assert dead.message.headers["origin"] == JUDGE_JOBS


async def test_a_message_has_an_upper_size(kafka: KafkaAccess) -> None:
    topic = new_topic(kafka)
    apply_topics(kafka, (Topic(topic, 1, TOPICS[0].settings),))
    async with streaming(kafka) as stream:
        with pytest.raises(InvalidInput, match=f"{LARGEST_MESSAGE:,}"):
            await stream.publish(Message(topic, "a", b"x" * LARGEST_MESSAGE))
        largest = b"x" * (LARGEST_MESSAGE - 1000)
        await stream.publish(Message(topic, "a", largest))
        member = stream.consumer(topic, "judge")
        assert (await received(member)).message.value == largest
        await member.leave()


async def test_jobs_of_a_sample_share_a_partition_whichever_run_they_are_of(
    kafka: KafkaAccess,
) -> None:
    topic = new_topic(kafka, 3)
    partitions: dict[str, set[int]] = {}
    async with streaming(kafka) as stream:
        keys = [f"run-{run}/scene/{sample}" for sample in range(20) for run in range(3)]
        for key in [*keys, "run-0", "run-1/end"]:
            await stream.publish(Message(topic, key, b""))
        member = stream.consumer(topic, "judge")
        for _ in range(len(keys) + 2):
            delivery = await received(member)
            sample = delivery.message.key.partition("/")[2]
            partitions.setdefault(sample, set()).add(delivery.partition)
            await member.acknowledge(delivery)
        await member.leave()
    held = [of for sample, of in partitions.items() if "/" in sample]
    assert [len(each) for each in held] == [1] * 20
    assert set.union(*held) == {0, 1, 2}


async def test_messages_are_compressed(kafka: KafkaAccess) -> None:
    topic = new_topic(kafka)
    async with streaming(kafka) as stream:
        await stream.publish(Message(topic, "a", b"caption " * 20_000))
    with closing(kafka.admin()) as admin:
        brokers = admin.describe_log_dirs([kafka.full_name(topic)])
    folders = [folder for broker in brokers for folder in broker["log_dirs"]]
    topics = [each for folder in folders for each in folder["topics"]]
    sizes = [part["partition_size"] for each in topics for part in each["partitions"]]
    assert 0 < sum(sizes) < 16_000


@pytest.mark.parametrize(("kind", "call"), [("reader", "topics"), ("admin", "list_topics")])
def test_a_client_that_is_closed_while_it_writes_leaves_no_socket(
    kafka: KafkaAccess, kind: str, call: str
) -> None:
    client = getattr(kafka, kind)()
    getattr(client, call)()
    connections = client._manager._conns.values()
    transports = [each.transport for each in connections if each.transport is not None]
    sockets = [each._sock for each in transports]
    for transport in transports:
        # As a request that is not sent yet.
        transport._write_buffer.append(b"request")
    client.close()
    assert sockets
    assert [each.fileno() for each in sockets] == [-1] * len(sockets)


async def test_nobody_there_is_said_after_a_while() -> None:
    [port] = free_ports(1)
    async with streaming(KafkaAccess(f"127.0.0.1:{port}", patience=0.5)) as stream:
        with pytest.raises(StreamUnavailable, match="judge-jobs"):
            await stream.publish(Message("judge-jobs", "a", b""))
        member = stream.consumer("judge-jobs", "judge")
        with pytest.raises(StreamUnavailable, match="judge-jobs"):
            await received(member)
        await member.leave()


async def test_a_topic_that_is_not_there_is_said_after_a_while(kafka: KafkaAccess) -> None:
    topic = "never"
    async with streaming(replace(kafka, patience=0.5)) as stream:
        with pytest.raises(StreamUnavailable, match=topic):
            await stream.publish(Message(topic, "a", b""))
        member = stream.consumer(topic, "judge")
        with pytest.raises(StreamUnavailable, match=topic):
            await received(member)
        await member.leave()


async def test_a_job_longer_than_every_limit_keeps_the_membership(kafka: KafkaAccess) -> None:
    topic, access = new_topic(kafka), replace(hasty(kafka), session=6.0, longest_pause=6.0)
    async with streaming(access) as stream:
        await publish(stream, topic, 1)
        member = stream.consumer(topic, "judge")
        long = await received(member)
        other = stream.consumer(topic, "judge")
        elsewhere = asyncio.create_task(other.receive())
        # That nothing happens while the limit passes is the case: there is no event of it.
        await asyncio.sleep(1.5 * access.longest_pause)
        assert not elsewhere.done()
        await member.acknowledge(long)
        await member.leave()
        await publish(stream, topic, 1)
        again = await elsewhere
        assert again is not None
        assert again.offset == 1
        await other.leave()


async def test_members_come_and_go_and_every_message_is_settled(kafka: KafkaAccess) -> None:
    topic, settled, count = new_topic(kafka, 6), set[bytes](), 150
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
            for number in range(50 * part, 50 * part + 50):
                await stream.publish(Message(topic, f"key{number}", str(number).encode()))
            async with asyncio.timeout(PATIENCE), changed:
                await changed.wait_for(lambda part=part: len(settled) >= 50 * part + 25)
        async with asyncio.timeout(PATIENCE), changed:
            await changed.wait_for(lambda: len(settled) == count)
        for member in members:
            await member.leave()
    assert sorted(settled) == names(count)


async def test_what_a_member_works_on_is_left_to_it_when_another_joins(kafka: KafkaAccess) -> None:
    topic = new_topic(kafka, 2)
    async with streaming(hasty(kafka)) as stream:
        await publish(stream, topic, 10)
        first = stream.consumer(topic, "judge")
        held = [await received(first) for _ in range(10)]
        assert {delivery.partition for delivery in held} == {0, 1}
        other = stream.consumer(topic, "judge")
        await members(kafka, "judge", 2)
        await publish(stream, topic, 10)
        moved = await received(other)
        assert moved.offset == sum(each.partition == moved.partition for each in held)
        await other.acknowledge(moved)
        # Had the first died since, nothing would be lost.
        again = {each.position for each in held if each.partition == moved.partition}
        while again:
            delivery = await received(other)
            again.discard(delivery.position)
            await other.acknowledge(delivery)
        await other.leave()
        await first.leave()


async def test_a_long_backlog_flows_through_pauses_to_its_end(kafka: KafkaAccess) -> None:
    # kafka-python 3.0.12 parks what it fetched for a paused partition, and forgot some of it.
    topic, results, count = new_topic(kafka, 4), new_topic(kafka, 4), 1500
    async with streaming(kafka) as stream:
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
