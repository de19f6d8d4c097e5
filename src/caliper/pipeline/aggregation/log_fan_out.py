"""One reading of each topic for all slots that a process leads, while they are level.

A slot that resumes from an old snapshot reads separately until it has caught up, so that the
others need not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from caliper.core.envelopes import Record
from caliper.ports.stream import LogReader

_AHEAD = 256
"""Records by which the fastest reader of a shared reading may be ahead of the slowest."""


class LogFanOut:
    """ports.stream.LogReader over `logs`: level readers of a topic share a reading, and its errors.
    A reader that stops must close its generator, or the others wait for it.
    """

    def __init__(self, logs: LogReader) -> None:
        self._logs = logs
        self._readings: dict[str, _Reading] = {}

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        reached = dict(offsets)
        seat = self._join(topic, reached)
        try:
            if seat is None:
                async with aclosing(self._logs.read(topic, offsets)) as records:
                    async for record in records:
                        yield record
                        reached[record.partition] = record.offset + 1
                        if (seat := self._join(topic, reached)) is not None:
                            break
            while seat is not None and (later := await seat.next()) is not None:
                yield later
        finally:
            if seat is not None:
                await seat.leave()

    async def identity(self, topic: str) -> str:
        return await self._logs.identity(topic)

    async def ends(self, topic: str) -> Mapping[int, int]:
        return await self._logs.ends(topic)

    def _join(self, topic: str, reached: Mapping[int, int]) -> _Seat | None:
        """A seat at the reading of a topic; None for a reader behind it."""
        reading = self._readings.get(topic)
        if reading is None or reading.is_over:
            reading = _Reading(self._logs.read(topic, dict(reached)), reached)
            self._readings[topic] = reading
            return reading.join({})
        return reading.join(reached) if reading.is_level(reached) else None


class _Reading:
    """A shared reading of a topic; it ends when the last reader leaves."""

    def __init__(self, records: AsyncGenerator[Record, None], offsets: Mapping[int, int]) -> None:
        self._reached = dict(offsets)
        self._seats: list[_Seat] = []
        self.is_over = False
        self._task = asyncio.create_task(self._read(records))

    def is_level(self, reached: Mapping[int, int]) -> bool:
        """Whether a reader at these offsets misses nothing by joining."""
        return all(reached.get(place, 0) >= offset for place, offset in self._reached.items())

    def join(self, reached: Mapping[int, int]) -> _Seat:
        """A seat for a reader at these offsets."""
        seat = _Seat(self, reached)
        self._seats.append(seat)
        return seat

    async def leave(self, seat: _Seat) -> None:
        self._seats.remove(seat)
        if not self._seats:
            self.is_over = True
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _read(self, records: AsyncGenerator[Record, None]) -> None:
        end: Exception | None = None
        try:
            async with aclosing(records):
                async for record in records:
                    self._reached[record.partition] = record.offset + 1
                    await self._hand_out(record)
        except Exception as error:  # noqa: BLE001 - raised where the records are read
            end = error
        self.is_over = True
        await self._hand_out(end)

    async def _hand_out(self, item: Record | Exception | None) -> None:
        for seat in tuple(self._seats):
            await seat.queue.put(item)


class _Seat:
    """The place of one reader at a reading."""

    def __init__(self, reading: _Reading, reached: Mapping[int, int]) -> None:
        self._reading, self._reached = reading, dict(reached)
        self.queue: asyncio.Queue[Record | Exception | None] = asyncio.Queue(_AHEAD)

    async def next(self) -> Record | None:
        """The next record; None at the end. Raises what the reading raises."""
        while True:
            item = await self.queue.get()
            if isinstance(item, Exception):
                raise item
            if item is None or item.offset >= self._reached.get(item.partition, 0):
                return item

    async def leave(self) -> None:
        """Leave the reading, which may wait for room in this queue."""
        while not self.queue.empty():
            self.queue.get_nowait()
        await self._reading.leave(self)
