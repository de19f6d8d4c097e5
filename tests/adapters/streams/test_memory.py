"""What only the stream in memory promises: room, and exact turns."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caliper.adapters.streams.memory import MemoryConsumer, MemoryStream
from caliper.core.envelopes import Delivery, Message


def message(number: int, topic: str = "jobs", key: str = "a") -> Message:
    return Message(topic, key, str(number).encode())


async def others_run() -> None:
    """Give every task that can go on its turns; nothing here waits for time to pass."""
    for _ in range(20):
        await asyncio.sleep(0)


async def received(consumer: MemoryConsumer) -> Delivery:
    # Never measured: it only ends a test whose stream lost a message.
    async with asyncio.timeout(60):
        delivery = await consumer.receive()
    assert delivery is not None
    return delivery


async def test_publishing_waits_while_the_topic_is_full() -> None:
    stream = MemoryStream(capacity=2)
    consumer = stream.consumer("jobs", "judge")
    await stream.publish(message(0))
    await stream.publish(message(1))
    third = asyncio.create_task(stream.publish(message(2)))
    first = await received(consumer)
    await others_run()
    assert not third.done(), "received is not done: the message still takes room"
    await consumer.acknowledge(first)
    await third
    assert [(await received(consumer)).message.value for _ in range(2)] == [b"1", b"2"]


async def test_room_is_made_when_the_slowest_group_is_done() -> None:
    stream = MemoryStream(capacity=1)
    fast, slow = stream.consumer("jobs", "fast"), stream.consumer("jobs", "slow")
    await stream.publish(message(0))
    second = asyncio.create_task(stream.publish(message(1)))
    await fast.acknowledge(await received(fast))
    await others_run()
    assert not second.done()
    await slow.acknowledge(await received(slow))
    await second


async def test_a_publisher_that_gave_up_waiting_published_nothing() -> None:
    stream = MemoryStream(capacity=1)
    consumer = stream.consumer("jobs", "judge")
    await stream.publish(message(0))
    second = asyncio.create_task(stream.publish(message(1)))
    await others_run()
    second.cancel()
    await consumer.acknowledge(await received(consumer))
    await others_run()
    await stream.close_topic("jobs")
    assert await consumer.receive() is None


async def test_a_receiver_that_gave_up_waiting_took_nothing() -> None:
    stream = MemoryStream()
    consumer = stream.consumer("jobs", "judge")
    waiting = asyncio.create_task(consumer.receive())
    await others_run()
    waiting.cancel()
    await stream.publish(message(0))
    assert (await received(consumer)).message.value == b"0"


async def test_dead_letters_never_wait() -> None:
    stream = MemoryStream(capacity=1)
    consumer = stream.consumer("jobs", "judge")
    for number in range(5):
        await stream.publish(message(number))
        await consumer.dead_letter(await received(consumer), "InvalidInput")
    morgue = stream.consumer("dead-letters", "people")
    letters = [(await received(morgue)).message.value for _ in range(5)]
    assert letters == [b"0", b"1", b"2", b"3", b"4"]


async def test_a_closed_topic_takes_nothing() -> None:
    stream = MemoryStream(capacity=1)
    await stream.publish(message(0))
    waiting = asyncio.create_task(stream.publish(message(1)))
    await others_run()
    await stream.close_topic("jobs")
    for publishing in (waiting, stream.publish(message(2))):
        with pytest.raises(ValueError, match="topic jobs is closed"):
            await publishing


async def test_the_end_waits_for_what_another_member_still_holds() -> None:
    stream = MemoryStream()
    first, second = stream.consumer("jobs", "judge"), stream.consumer("jobs", "judge")
    await stream.publish(message(0))
    await stream.close_topic("jobs")
    held = await received(first)
    waiting = asyncio.create_task(second.receive())
    await others_run()
    assert not waiting.done()
    await first.retry(held)
    again = await waiting
    assert again is not None
    assert again.attempt == 2
    await second.acknowledge(again)
    assert await first.receive() is None


async def test_a_member_cannot_settle_what_another_one_holds() -> None:
    stream = MemoryStream()
    first, second = stream.consumer("jobs", "judge"), stream.consumer("jobs", "judge")
    await stream.publish(message(0))
    delivery = await received(first)
    await second.acknowledge(delivery)
    await second.retry(delivery)
    await second.dead_letter(delivery, "InvalidInput")
    await first.retry(delivery)
    again = await received(second)
    await first.acknowledge(delivery)
    assert again.attempt == 2
    await second.acknowledge(again)
    await stream.close_topic("jobs")
    assert await second.receive() is None


async def test_a_delivery_of_an_earlier_attempt_settles_nothing() -> None:
    stream = MemoryStream()
    consumer = stream.consumer("jobs", "judge")
    await stream.publish(message(0))
    stale = await received(consumer)
    await consumer.retry(stale)
    again = await received(consumer)
    await consumer.acknowledge(stale)
    await consumer.retry(again)
    assert (await received(consumer)).attempt == 3


async def test_a_group_that_comes_late_starts_with_what_is_left() -> None:
    stream = MemoryStream()
    first = stream.consumer("jobs", "judge")
    for number in range(3):
        await stream.publish(message(number))
    await first.acknowledge(await received(first))
    late = stream.consumer("jobs", "watch")
    assert [(await received(late)).message.value for _ in range(2)] == [b"1", b"2"]


FATES = st.lists(st.sampled_from(["acknowledge", "retry", "dead_letter", "leave"]), max_size=40)


@given(fates=FATES, count=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_whatever_befalls_them_every_message_is_settled_once(fates: list[str], count: int) -> None:
    async def live() -> tuple[list[bytes], list[bytes]]:
        stream = MemoryStream()
        for number in range(count):
            await stream.publish(message(number, key=str(number % 2)))
        await stream.close_topic("jobs")
        consumer, done, dead = stream.consumer("jobs", "judge"), [], []
        turns = iter(fates)
        while (delivery := await consumer.receive()) is not None:
            match next(turns, "acknowledge"):
                case "acknowledge":
                    await consumer.acknowledge(delivery)
                    done.append(delivery.message.value)
                case "retry":
                    await consumer.retry(delivery)
                case "dead_letter":
                    await consumer.dead_letter(delivery, "InvalidInput")
                    dead.append(delivery.message.value)
                case _:
                    await consumer.leave()
                    consumer = stream.consumer("jobs", "judge")
        return done, dead

    done, dead = asyncio.run(live())
    assert sorted(done + dead) == sorted(str(number).encode() for number in range(count))
    assert done == sorted(done)
