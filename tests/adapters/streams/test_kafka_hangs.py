"""Clients of Kafka that a test holds up while they open: no broker does that so punctually."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest
from tests.fakes.clock import PATIENCE

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.core.envelopes import Message

TOPIC = "verdicts"


class Client:
    """A client of a cluster whose topics are empty."""

    _cluster = property(lambda self: self)

    def __init__(self) -> None:
        self.closed = Event()

    def topic_id(self, topic: str) -> str:
        return f"id of {topic}"

    def partitions_for_topic(self, topic: str) -> set[int]:
        return {0}

    def beginning_offsets(self, places: list[Any]) -> dict[Any, int]:
        return dict.fromkeys(places, 0)

    end_offsets = beginning_offsets

    def assignment(self) -> set[Any]:
        return set()

    def assign(self, places: list[Any]) -> None:
        pass

    def seek(self, place: Any, offset: int) -> None:
        pass

    def partitions_for(self, topic: str) -> set[int]:
        return {0}

    def send(self, topic: str, **message: Any) -> Any:
        return Sent()

    def close(self, patience: float = 0.0) -> None:
        self.closed.set()


class Sent:
    """The future of a message that the broker has."""

    def add_both(self, settled: Callable[[None], None]) -> None:
        settled(None)


class HeldAccess:
    """A KafkaAccess whose clients open once `going_on` is set. It tells when the first begins to,
    and has those that did.
    """

    patience = 5.0
    prefix = ""

    def __init__(self) -> None:
        self.going_on, self.opened = Event(), SimpleQueue[Client]()
        self.opening, self._loop = asyncio.Event(), asyncio.get_running_loop()

    def full_name(self, name: str) -> str:
        return name

    def reader(self) -> Client:
        self._loop.call_soon_threadsafe(self.opening.set)
        self.going_on.wait()
        client = Client()
        self.opened.put(client)
        return client

    producer = reader

    async def leave(self, caller: asyncio.Future[Any]) -> None:
        """Cancel who waits for a client that is being opened."""
        async with asyncio.timeout(PATIENCE):
            await self.opening.wait()
            caller.cancel()
            await asyncio.wait([caller])
        assert caller.cancelled()

    def only(self) -> Client:
        """The only client that was opened."""
        client = self.opened.get(timeout=PATIENCE)
        assert self.opened.empty()
        return client


@pytest.mark.parametrize(("question", "answer"), [("identity", f"id of {TOPIC}"), ("ends", {})])
async def test_who_asks_about_a_log_holds_up_nobody_else(question: str, answer: object) -> None:
    access: Any = HeldAccess()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    log = KafkaLog(access)
    asking = [asyncio.ensure_future(getattr(log, question)(TOPIC)) for _ in range(8)]
    # All of them begin.
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(PATIENCE):
            assert await asyncio.to_thread(lambda: "answered") == "answered"
    finally:
        access.going_on.set()
    assert await asyncio.gather(*asking) == [answer] * 8


async def test_a_producer_whose_caller_leaves_while_it_opens_is_the_next_caller_s() -> None:
    access: Any = HeldAccess()
    stream, message = KafkaStream(access), Message("jobs", "a", b"a")
    try:
        await access.leave(asyncio.ensure_future(stream.publish(message)))
        publishing = asyncio.ensure_future(stream.publish(message))
        await asyncio.sleep(0)
    finally:
        access.going_on.set()
    async with asyncio.timeout(PATIENCE):
        await publishing
        await stream.close()
    assert access.only().closed.is_set()


async def test_a_producer_whose_caller_leaves_while_it_opens_is_closed_with_the_stream() -> None:
    access: Any = HeldAccess()
    stream = KafkaStream(access)
    try:
        await access.leave(asyncio.ensure_future(stream.publish(Message("jobs", "a", b"a"))))
        closing = asyncio.ensure_future(stream.close())
        await asyncio.sleep(0)
    finally:
        access.going_on.set()
    async with asyncio.timeout(PATIENCE):
        await closing
    assert access.only().closed.is_set()


async def test_a_log_whose_reader_leaves_while_it_opens_is_closed() -> None:
    access: Any = HeldAccess()
    records = KafkaLog(access).read(TOPIC, {})
    try:
        await access.leave(asyncio.ensure_future(anext(records)))
    finally:
        access.going_on.set()
    assert await asyncio.to_thread(access.only().closed.wait, PATIENCE)
