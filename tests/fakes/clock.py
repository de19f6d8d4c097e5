"""Clocks: one that only moves when somebody sleeps, and one that can be set ahead."""

import asyncio
from datetime import UTC, datetime, timedelta

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
