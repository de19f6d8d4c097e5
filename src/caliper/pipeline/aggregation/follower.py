"""Keeping an aggregator up to date with its topics, and its snapshots with the aggregator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from caliper.core.errors import StoreUnavailable, StreamUnavailable
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.ports.clock import Clock
from caliper.ports.stream import LogReader

_TOPICS = (RUNS, VERDICTS)
# Others have their turn after so many records, however many are waiting.
_TURN = 64


@dataclass(frozen=True, slots=True)
class FollowerTiming:
    """Seconds between two looks at what is due, between two snapshots, and until a store or
    stream that is down is tried again; where `patience` is None, that ends it.

    Without `snapshots`, as for topics that end with their process, the evidence alone is written
    as often.
    """

    conclude: float = 1.0
    keep: float = 15.0
    patience: float | None = 1.0
    snapshots: bool = True


class Follower:
    """Reads the topics into the aggregator until they are closed.

    `current` is set once everything is entered that had been published before it began:
    from then on runs are ended. `check` fails as long as store or stream do not answer.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        reader: LogReader,
        clock: Clock,
        pace: FollowerTiming | None = None,
    ) -> None:
        self._aggregator, self._reader, self._clock = aggregator, reader, clock
        self._pace = pace or FollowerTiming()
        self._behind = set(_TOPICS)
        self.current = asyncio.Event()
        # By what it has to do: that one thing goes well says nothing of the others.
        self._troubles: dict[str, Exception] = {}

    async def check(self) -> None:
        """Raises what keeps it from following."""
        for trouble in self._troubles.values():
            raise trouble

    async def run(self) -> None:
        """Resume, follow, and keep a last snapshot when the topics end or this is cancelled."""
        if self._pace.snapshots:
            await self._patiently("resume", self._aggregator.resume)
        try:
            async with asyncio.TaskGroup() as house:
                keeping = house.create_task(self._keep_house())
                async with asyncio.TaskGroup() as topics:
                    for topic in _TOPICS:
                        topics.create_task(self._follow(topic))
                keeping.cancel()
            await self._patiently("conclude", self._aggregator.conclude)
        finally:
            await self._keep()

    async def _keep(self) -> None:
        aggregator = self._aggregator
        await (aggregator.snapshot() if self._pace.snapshots else aggregator.flush())

    async def _follow(self, topic: str) -> None:
        async def read() -> None:
            log, ends = await self._reader.identity(topic), dict(await self._reader.ends(topic))
            self._troubles.pop(topic, None)
            await self._aggregator.begin(topic, log, ends)
            self._look(topic, ends)
            offsets = self._aggregator.places.offsets.get(topic, {})
            turn = 0
            async for record in self._reader.read(topic, dict(offsets)):
                await self._patiently(f"enter {topic}", partial(self._aggregator.apply, [record]))
                turn += 1
                if topic in self._behind:
                    self._look(topic, ends)
                if turn % _TURN == 0:
                    await asyncio.sleep(0)

        await self._patiently(topic, read)

    def _look(self, topic: str, ends: dict[int, int]) -> None:
        reached = self._aggregator.places.offsets.get(topic, {})
        if all(reached.get(partition, 0) >= end for partition, end in ends.items()):
            self._behind.discard(topic)
        if not self._behind:
            self.current.set()

    async def _keep_house(self) -> None:
        next_snapshot = self._clock.monotonic() + self._pace.keep
        while True:
            await self._clock.sleep(self._pace.conclude)
            if self.current.is_set():
                await self._patiently("conclude", self._aggregator.conclude)
            if self._clock.monotonic() >= next_snapshot:
                await self._patiently("snapshot", self._keep)
                next_snapshot = self._clock.monotonic() + self._pace.keep

    async def _patiently(self, what: str, step: Callable[[], Awaitable[None]]) -> None:
        """Do a step, and again as long as store or stream are down."""
        while True:
            try:
                await step()
            except (StoreUnavailable, StreamUnavailable) as error:
                if self._pace.patience is None:
                    raise
                # Held against it until it is answered, and not only until it is tried again.
                self._troubles[what] = error
                await self._clock.sleep(self._pace.patience)
            else:
                self._troubles.pop(what, None)
                return
