"""Keeps an aggregator up to date with its topics, and its snapshots with the aggregator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial

from caliper.core.errors import LeaseLost, StoreUnavailable, StreamUnavailable
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.ports.clock import Clock
from caliper.ports.stream import LogReader
from caliper.ports.telemetry import RecordsWaiting, Telemetry

_TOPICS = (RUNS, VERDICTS)
# Records after which other tasks of the event loop get their turn.
_RECORDS_PER_TURN = 64


@dataclass(frozen=True, slots=True)
class FollowerTiming:
    """Seconds between checks for runs that are due (`conclude`), between snapshots (`snapshot`),
    and before retrying a store or stream that is down (`patience`; None fails instead).

    Without `snapshots`, as for topics in the process, only evidence is written at those times.
    """

    conclude: float = 1.0
    snapshot: float = 15.0
    patience: float | None = 1.0
    snapshots: bool = True


class Follower:
    """Reads the topics into the aggregator until they are closed.

    With a `lease`, it reads only while holding it, and stands by otherwise. `current` is set once
    everything published before the start is applied; from then on runs are ended. `check` fails
    while store or stream do not answer.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        reader: LogReader,
        clock: Clock,
        pace: FollowerTiming | None = None,
        lease: Lease | None = None,
    ) -> None:
        self._aggregator, self._reader, self._clock = aggregator, reader, clock
        self.table = aggregator.table
        self._pace, self._lease = pace or FollowerTiming(), lease
        self._behind = set(_TOPICS)
        self.current = asyncio.Event()
        # By task: the success of one says nothing about the others.
        self._troubles: dict[str, Exception] = {}

    def leads(self) -> bool:
        """Whether it holds the lease, and has applied everything published before."""
        return self._aggregator.leads and self.current.is_set()

    async def check(self) -> None:
        """Raise the error that hinders it, if any."""
        for trouble in self._troubles.values():
            raise trouble

    async def run(self) -> None:
        """Resume, follow, and store a last snapshot when the topics end or this is cancelled."""
        if self._lease is None:
            await self._lead()
        else:
            while not await self._lead_once(self._lease):
                pass

    async def _lead_once(self, lease: Lease) -> bool:
        """Wait for the lease, then lead. Returns False when the lease was lost."""
        self.current.clear()
        self._behind = set(_TOPICS)
        self._troubles.clear()
        await self._aggregator.stand_by()
        await self._with_retries("lease", lease.acquire)
        was_lost = False
        try:
            async with asyncio.TaskGroup() as tasks:
                renewing = tasks.create_task(self._renew(lease))
                await self._lead()
                renewing.cancel()
        except* (LeaseLost, StoreUnavailable):
            # The next holder reads again what could not be written at the end.
            was_lost = True
        finally:
            await lease.release()
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # Before Python 3.13, a failing task group forgets that its task was cancelled.
            raise asyncio.CancelledError
        return not was_lost

    async def _renew(self, lease: Lease) -> None:
        while True:
            await self._clock.sleep(lease.pace)
            if not lease.is_wanted():
                raise LeaseLost("another aggregator is to lead")
            await self._with_retries("lease", lease.renew)

    async def _lead(self) -> None:
        if self._pace.snapshots:
            await self._with_retries("resume", self._aggregator.resume)
        try:
            async with asyncio.TaskGroup() as tasks:
                maintenance = tasks.create_task(self._maintain())
                async with asyncio.TaskGroup() as topics:
                    for topic in _TOPICS:
                        topics.create_task(self._follow(topic))
                maintenance.cancel()
            await self._with_retries("conclude", self._aggregator.conclude)
        finally:
            # Without the lease there is nothing to write: the next holder reads it again.
            with suppress(LeaseLost):
                await self._persist()

    async def _persist(self) -> None:
        aggregator = self._aggregator
        await (aggregator.snapshot() if self._pace.snapshots else aggregator.flush())

    async def _follow(self, topic: str) -> None:
        async def read() -> None:
            log, ends = await self._reader.identity(topic), dict(await self._reader.ends(topic))
            self._troubles.pop(topic, None)
            await self._aggregator.begin(topic, log, ends)
            self._check_current(topic, ends)
            offsets = self._aggregator.places.offsets.get(topic, {})
            count = 0
            async with aclosing(self._reader.read(topic, dict(offsets))) as records:
                async for record in records:
                    await self._with_retries(
                        f"enter {topic}", partial(self._aggregator.apply, [record])
                    )
                    count += 1
                    if topic in self._behind:
                        self._check_current(topic, ends)
                    if count % _RECORDS_PER_TURN == 0:
                        await asyncio.sleep(0)

        await self._with_retries(topic, read)

    def _check_current(self, topic: str, ends: dict[int, int]) -> None:
        reached = self._aggregator.places.offsets.get(topic, {})
        if all(reached.get(partition, 0) >= end for partition, end in ends.items()):
            self._behind.discard(topic)
        if not self._behind:
            self.current.set()

    async def _maintain(self) -> None:
        next_snapshot = self._clock.monotonic() + self._pace.snapshot
        while True:
            await self._clock.sleep(self._pace.conclude)
            if self.current.is_set():
                await self._with_retries("conclude", self._aggregator.conclude)
            if self._clock.monotonic() >= next_snapshot:
                await self._with_retries("snapshot", self._persist)
                next_snapshot = self._clock.monotonic() + self._pace.snapshot

    async def _with_retries(self, task: str, step: Callable[[], Awaitable[None]]) -> None:
        """Do a step, retrying while store or stream are down."""
        while True:
            try:
                await step()
            except (StoreUnavailable, StreamUnavailable) as error:
                if self._pace.patience is None:
                    raise
                # Reported until a retry succeeds, not only until the next retry.
                self._troubles[task] = error
                await self._clock.sleep(self._pace.patience)
            else:
                self._troubles.pop(task, None)
                return


_PACE = 10.0


class LagMeter:
    """Records how far the leading aggregators are behind the ends of the topics."""

    def __init__(
        self,
        aggregators: Sequence[Aggregator],
        logs: LogReader,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._aggregators, self._logs = aggregators, logs
        self._clock, self._telemetry = clock, telemetry

    async def run(self) -> None:
        """Measure every ten seconds, skipping while the stream is down or others lead."""
        while True:
            leaders = [each for each in self._aggregators if each.leads]
            for topic in _TOPICS if leaders else ():
                with suppress(StreamUnavailable):
                    await self._measure(topic, leaders)
            await self._clock.sleep(_PACE)

    async def _measure(self, topic: str, leaders: Sequence[Aggregator]) -> None:
        ends = await self._logs.ends(topic)
        reached = [each.places.offsets.get(topic, {}) for each in leaders]
        lag = {
            partition: max(max(0, end - offsets.get(partition, 0)) for offsets in reached)
            for partition, end in ends.items()
        }
        self._telemetry.record(RecordsWaiting(topic, lag))
