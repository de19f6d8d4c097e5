"""A pool over fake endpoints, with a clock that moves when somebody sleeps."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import chain, repeat

from tests.fakes.clock import FakeClock
from tests.fakes.endpoints import FakeEndpoint, Told

from caliper.adapters.models.gate import Pace
from caliper.adapters.models.pool import Pool
from caliper.adapters.models.retrying import Budget
from caliper.core.question import Decoding
from caliper.ports.models import Message

AT_ONCE = Pace(start=1000)


class Bench:
    """A pool over fake endpoints, with a clock that moves when somebody sleeps."""

    def __init__(self, pool: Pool, clock: FakeClock) -> None:
        self.pool, self.clock = pool, clock

    async def ask(self, text: str = "1", affinity: str = "") -> str:
        message = Message("user", (text,))
        return (await self.pool.complete((message,), Decoding(), affinity=affinity)).text


@asynccontextmanager
async def bench(
    *endpoints: FakeEndpoint,
    in_flight: int = 64,
    budget: Budget | None = None,
    pace: Pace | None = None,
) -> AsyncIterator[Bench]:
    clock = FakeClock()
    named = [(f"host-{place}", endpoint) for place, endpoint in enumerate(endpoints)]
    pool = Pool(named, clock, in_flight, budget, pace)
    try:
        await pool.resolve()
        yield Bench(pool, clock)
        assert pool.in_flight == 0
    finally:
        await pool.close()


def script(*told: Told, then: Told = "ok") -> Callable[[str], Told]:
    """Tell one thing after the other, and `then` for ever."""
    rest = chain(told, repeat(then))
    return lambda _: next(rest)


async def settle() -> None:
    """Let everybody go on who can."""
    for _ in range(50):
        await asyncio.sleep(0)
