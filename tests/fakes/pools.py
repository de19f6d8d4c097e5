import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import chain, repeat

from tests.fakes.clock import FakeClock
from tests.fakes.endpoints import FakeEndpoint, Told
from tests.fakes.telemetry import RecordedTelemetry

from caliper.adapters.models.congestion import CongestionLimits
from caliper.adapters.models.pool import Pool
from caliper.adapters.models.retries import Budget
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage

AT_ONCE = CongestionLimits(initial_calls=1000)


class Bench:
    """A pool over fake endpoints, with a clock that moves when somebody sleeps."""

    def __init__(self, pool: Pool, clock: FakeClock, telemetry: RecordedTelemetry) -> None:
        self.pool, self.clock, self._telemetry = pool, clock, telemetry

    @property
    def limits(self) -> list[int]:
        """The limits on calls in flight, one per endpoint; 0 for one that is only probed."""
        return [gate.limit for gate in self._telemetry.gates.values()]

    async def ask(self, text: str = "1", affinity: str = "") -> str:
        message = ChatMessage("user", (text,))
        return (await self.pool.complete((message,), Decoding(), affinity=affinity)).text


@asynccontextmanager
async def bench(
    *endpoints: FakeEndpoint,
    in_flight: int = 64,
    budget: Budget | None = None,
    pace: CongestionLimits | None = None,
) -> AsyncIterator[Bench]:
    clock = FakeClock()
    named = [(f"host-{place}", endpoint) for place, endpoint in enumerate(endpoints)]
    told = RecordedTelemetry()
    pool = Pool(named, clock, in_flight, budget, pace, told)
    try:
        await pool.resolve()
        yield Bench(pool, clock, told)
        assert sum(gate.in_flight for gate in told.gates.values()) == 0
    finally:
        await pool.close()


def script(*results: Told, then: Told = "ok") -> Callable[[str], Told]:
    """Return the results in order, then `then` for ever."""
    rest = chain(results, repeat(then))
    return lambda _: next(rest)


async def settle() -> None:
    """Let all tasks run until they block."""
    for _ in range(50):
        await asyncio.sleep(0)
