"""Clients of Kafka that a test holds up while they open: no broker does that so punctually."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from tests.fakes.clock import PATIENCE

from caliper.adapters.streams.kafka_log import KafkaLog

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

    def close(self) -> None:
        self.closed.set()


class HeldAccess:
    """A KafkaAccess whose clients open once `going_on` is set."""

    def __init__(self) -> None:
        self.going_on = Event()

    def full_name(self, name: str) -> str:
        return name

    def reader(self) -> Client:
        self.going_on.wait()
        return Client()


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
