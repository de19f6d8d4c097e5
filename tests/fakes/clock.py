"""Clocks: some that only move when somebody sleeps, and one that can be set ahead."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from typing import Any

from caliper.wiring.clock import SystemClock

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

PATIENCE = 60
"""Seconds, never measured: they only end a test that would hang."""


class FakeClock:
    """ports.clock.Clock. Sleeping returns at once and advances the time; overlapping sleeps share
    the elapsed time. `slept` lists the requested seconds.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return _BEGIN + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        waking = self.seconds + seconds
        # Other sleepers that start now begin at the same time.
        await asyncio.sleep(0)
        self.seconds = max(self.seconds, waking)


class IdleClock(FakeClock):
    """A clock on which time passes only when nobody has anything else to do, while it `run`s."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = count()

    async def sleep(self, seconds: float) -> None:
        waking = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self.seconds + seconds, next(self._number), waking))
        await waking

    async def run(self) -> None:
        loop: Any = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(0)
            if not loop._ready and self._sleepers:
                self.seconds, _, waking = heappop(self._sleepers)
                if not waking.done():
                    waking.set_result(None)


class FastClock(SystemClock):
    """A clock on which time passes ten times as fast."""

    def monotonic(self) -> float:
        return 10 * super().monotonic()

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 10)


class AheadClock(SystemClock):
    """A clock that a test can set ahead, so that cached values expire."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


class ImmediateExecutor(ThreadPoolExecutor):
    """No threads: while one worked, hours would pass on an `IdleClock`."""

    def submit(self, fn: Any, /, *arguments: Any, **fields: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*arguments, **fields))
        except Exception as error:  # noqa: BLE001 - it is its future's
            done.set_exception(error)
        return done
