"""Clocks: one that only moves when somebody sleeps, and one that can be put forward."""

import asyncio
from datetime import UTC, datetime, timedelta

from caliper.wiring.clock import SystemClock

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """ports.clock.Clock. Sleeping returns at once, with the time moved on; sleepers that
    overlap share the time that passes. `slept` lists what was asked for, in seconds.
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
        # Others that fall asleep now begin at the same moment.
        await asyncio.sleep(0)
        self.seconds = max(self.seconds, waking)


class AheadClock(SystemClock):
    """Time that a test can put forward, so that what is remembered is looked up again."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead
