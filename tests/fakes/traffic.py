"""Publishes messages to a stream, and receives all of them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable

from caliper.core.envelopes import Delivery, Message
from caliper.ports.stream import Consumer, JobStream

# Generous: it only ends a test whose stream lost a message.
PATIENCE = 12
LAST = b"the last one"


def message(topic: str, key: str, number: int, **headers: str) -> Message:
    return Message(topic, key, f"{key}{number}".encode(), headers)


async def received(consumer: Consumer) -> Delivery:
    async with asyncio.timeout(PATIENCE):
        delivery = await consumer.receive()
    assert delivery is not None
    return delivery


async def finish(stream: JobStream, topic: str, keys: Iterable[str]) -> None:
    for key in keys:
        await stream.publish(Message(topic, key, LAST))


async def drained(consumer: Consumer, keys: int = 1) -> list[Delivery]:
    """All messages before the last ones of this many keys, acknowledged one by one."""
    deliveries = []
    while keys:
        delivery = await received(consumer)
        await consumer.acknowledge(delivery)
        if delivery.message.value == LAST:
            keys -= 1
        else:
            deliveries.append(delivery)
    await consumer.leave()
    return deliveries


async def lagging(consumer: Consumer, messages: int) -> None:
    """Wait until the member's lag is this; a broker reports it only now and then."""
    async with asyncio.timeout(PATIENCE):
        while sum(consumer.lag.values()) != messages:  # noqa: ASYNC110 - nobody is told of it
            await asyncio.sleep(0.05)


async def shared(members: list[Consumer], count: int) -> list[bytes]:
    """The messages delivered to members of a group, acknowledged, until there are `count`."""
    values: list[bytes] = []
    enough = asyncio.Event()

    async def work(member: Consumer) -> None:
        while (delivery := await member.receive()) is not None:
            await member.acknowledge(delivery)
            values.append(delivery.message.value)
            if len(values) == count:
                enough.set()

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for member in members:
            group.create_task(work(member))
        await enough.wait()
        for member in members:
            await member.leave()
    return values


def by_key(deliveries: list[Delivery]) -> dict[str, list[bytes]]:
    found = defaultdict(list)
    for delivery in deliveries:
        found[delivery.message.key].append(delivery.message.value)
    return dict(found)
