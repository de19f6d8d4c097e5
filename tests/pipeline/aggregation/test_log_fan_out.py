"""Readers of one process share a reading of a topic while they are level."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

import pytest
from tests.fakes.clock import PATIENCE

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message, Record
from caliper.core.errors import StreamUnavailable
from caliper.pipeline.aggregation.log_fan_out import LogFanOut

TOPIC = "verdicts"
MANY = 1000


class CountingLog(MemoryStream):
    """A log that counts its readings, and breaks them off at offset `broken`."""

    def __init__(self) -> None:
        super().__init__(logs={TOPIC})
        self.begun = self.open = 0
        self.broken: int | None = None

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        self.begun += 1
        self.open += 1
        try:
            async with aclosing(super().read(topic, offsets)) as records:
                async for record in records:
                    if record.offset == self.broken:
                        raise StreamUnavailable("broken off")
                    yield record
        finally:
            self.open -= 1

    async def grow(self, count: int) -> None:
        for _ in range(count):
            await self.publish(Message(TOPIC, "run/benchmark/sample", b"x"))


class Follower:
    """Reads a log and keeps the offsets."""

    def __init__(self, log: LogFanOut, start: int = 0) -> None:
        self.offsets: list[int] = []
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._read(log, {0: start} if start else {}))

    async def _read(self, log: LogFanOut, offsets: Mapping[int, int]) -> None:
        async with aclosing(log.read(TOPIC, offsets)) as records:
            async for record in records:
                self.offsets.append(record.offset)
                self._changed.set()

    async def until(self, offset: int) -> None:
        """Wait until this offset is read. Raises what ends the reading before."""
        async with asyncio.timeout(PATIENCE):
            while offset not in self.offsets:
                self._changed.clear()
                change = asyncio.create_task(self._changed.wait())
                await asyncio.wait([change, self._task], return_when=asyncio.FIRST_COMPLETED)
                if self._task.done():
                    change.cancel()
                    self._task.result()

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


@pytest.fixture
def logs() -> CountingLog:
    return CountingLog()


async def test_those_who_are_level_share_a_reading(logs: CountingLog) -> None:
    log = LogFanOut(logs)
    await logs.grow(5)
    followers = [Follower(log) for _ in range(4)]
    for follower in followers:
        await follower.until(4)
        assert follower.offsets == [0, 1, 2, 3, 4]
    assert logs.begun == 1
    for follower in followers:
        await follower.stop()
    assert logs.open == 0


async def test_one_that_is_ahead_gets_nothing_twice(logs: CountingLog) -> None:
    log = LogFanOut(logs)
    await logs.grow(5)
    first, ahead = Follower(log), Follower(log, start=3)
    await first.until(4)
    await ahead.until(4)
    assert ahead.offsets == [3, 4]
    assert logs.begun == 1
    await first.stop()
    await ahead.stop()


async def test_one_that_is_behind_reads_by_itself_until_it_is_level(logs: CountingLog) -> None:
    log = LogFanOut(logs)
    await logs.grow(MANY)
    first = Follower(log, start=MANY - 1)
    await first.until(MANY - 1)
    behind = Follower(log)
    await behind.until(MANY - 1)
    assert (logs.begun, logs.open) == (2, 1)
    await logs.grow(1)
    await first.until(MANY)
    await behind.until(MANY)
    assert behind.offsets == list(range(MANY + 1))
    assert first.offsets == [MANY - 1, MANY]
    await first.stop()
    await behind.stop()
    assert logs.open == 0


async def test_one_that_leaves_holds_nobody_up(logs: CountingLog) -> None:
    log = LogFanOut(logs)
    await logs.grow(1)
    other = Follower(log)
    stuck = log.read(TOPIC, {})
    assert (await anext(stuck)).offset == 0
    await logs.grow(MANY)
    # Now the reading waits for it: it has not taken what it has room for.
    await other.until(200)
    await stuck.aclose()
    await other.until(MANY)
    assert other.offsets == list(range(MANY + 1))
    await other.stop()
    assert (logs.begun, logs.open) == (1, 0)


async def test_an_error_reaches_all_who_then_read_anew(logs: CountingLog) -> None:
    log = LogFanOut(logs)
    await logs.grow(3)
    logs.broken = 2
    followers = [Follower(log), Follower(log)]
    for follower in followers:
        with pytest.raises(StreamUnavailable, match="broken off"):
            await follower.until(2)
        assert follower.offsets == [0, 1]
    logs.broken = None
    again = [Follower(log, start=2), Follower(log, start=2)]
    for follower in again:
        await follower.until(2)
        assert follower.offsets == [2]
        await follower.stop()
    assert (logs.begun, logs.open) == (2, 0)


async def test_the_end_of_the_topic_is_the_end_for_all(logs: CountingLog) -> None:
    log = LogFanOut(logs)
    await logs.grow(2)
    await logs.close_topic(TOPIC)
    one, other = (asyncio.create_task(_all(log)) for _ in range(2))
    assert await one == await other == [0, 1]
    assert logs.open == 0


async def _all(log: LogFanOut) -> list[int]:
    async with aclosing(log.read(TOPIC, {})) as records:
        return [record.offset async for record in records]
