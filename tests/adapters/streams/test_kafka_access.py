"""What clients of kafka-python need beyond their settings, and what they cost at rest."""

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from threading import Semaphore
from typing import Any

import pytest
from tests.fakes.kafka_streams import PATIENCE, new_topic, publish, received, streaming

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_poller import KafkaPoller

LOOKS, REST = 50, 0.01
# Seconds between two polls of a member that has no message.
SELDOM = 0.5


def test_a_producer_rests_while_a_partition_has_no_known_leader(kafka: KafkaAccess) -> None:
    topic, looks = kafka.full_name(new_topic(kafka)), Semaphore(0)
    with closing(kafka.producer()) as producer, closing(kafka.admin()) as admin:
        producer.send(topic, b"", b"key").get(PATIENCE)
        admin.delete_topics([topic])
        # A producer tells nobody what it hears.
        while producer._metadata.partitions_for_topic(topic):
            producer._metadata.request_update()
            time.sleep(0.05)
        client = producer._sender._client
        client.poll = counting(client.poll, looks)
        begun = time.monotonic()
        for _ in range(LOOKS):
            assert looks.acquire(timeout=PATIENCE)
        assert time.monotonic() - begun > REST * LOOKS / 2


def counting(poll: Callable[..., None], looks: Semaphore) -> Callable[..., None]:
    def counted(*arguments: Any, **named: Any) -> None:
        looks.release()
        poll(*arguments, **named)

    return counted


async def test_a_member_without_messages_seldom_polls(
    kafka: KafkaAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, step = Semaphore(0), KafkaPoller._step

    def counted(poller: KafkaPoller, client: Any) -> None:
        steps.release()
        step(poller, client)

    async def take(count: int) -> float:
        begun = time.monotonic()
        for _ in range(count):
            assert await asyncio.to_thread(steps.acquire, timeout=PATIENCE)
        return time.monotonic() - begun

    monkeypatch.setattr(KafkaPoller, "_step", counted)
    topic = new_topic(kafka)
    async with streaming(kafka) as stream:
        member = stream.consumer(topic, "judge")
        await publish(stream, topic, 1)
        await member.acknowledge(await received(member))
        while steps.acquire(blocking=False):
            pass
        # What it settled is committed, and nothing more arrives.
        await take(20)
        assert await take(4) > 4 * SELDOM / 2
        await publish(stream, topic, 1)
        assert (await received(member)).message.value == b"0"
        await member.leave()
