"""An embedder over its endpoints: the same gate, tries and proofs as any other model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.embedders import FakeEmbedder
from tests.fakes.telemetry import RecordedTelemetry
from tests.fakes.triton_calls import unload
from tests.servers.process import ServerProcess
from tests.servers.triton_server import put_back

from caliper.adapters.models.pool import EmbedderPool
from caliper.adapters.models.retries import Budget
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_embedder import TritonEmbedder, parse_embedder_addresses
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    ModelChanged,
)
from caliper.ports.telemetry import Event, Retried
from caliper.wiring.clock import SystemClock

TRITON_MODELS = ("sentences",)


@asynccontextmanager
async def pooled(
    *endpoints: FakeEmbedder, told: RecordedTelemetry | None = None, in_flight: int = 64
) -> AsyncIterator[EmbedderPool]:
    named = [(f"host-{place}", endpoint) for place, endpoint in enumerate(endpoints)]
    told = told or RecordedTelemetry()
    pool = EmbedderPool(named, FakeClock(), in_flight, telemetry=told)
    try:
        await pool.resolve()
        yield pool
        assert sum(gate.in_flight for gate in told.gates.values()) == 0
    finally:
        await pool.close()


async def test_trouble_that_passes_is_tried_again() -> None:
    told = RecordedTelemetry()
    endpoint = FakeEmbedder(BackendUnavailable("down"), BackendTimeout("late"))
    async with pooled(endpoint, told=told) as pool:
        assert await pool.embed(["a", "bb"]) == [(1.0,), (2.0,)]
    assert endpoint.asked == [("a", "bb")] * 3
    assert told.repeated == [("words", "backend_unavailable"), ("words", "backend_timeout")]
    assert told.calls.count(("words", "ok")) == 1
    assert told.gates.keys() == {"words"}


async def test_an_overloaded_embedder_gets_less_at_once() -> None:
    endpoint = FakeEmbedder(*(BackendOverloaded("busy", 1.0) for _ in range(8)))
    told = RecordedTelemetry()
    async with pooled(endpoint, told=told, in_flight=8) as pool:
        before = told.gates["words"].limit
        await asyncio.gather(*(pool.embed([text]) for text in "abcdefgh"))
        assert told.gates["words"].limit < before
        assert endpoint.most_in_flight <= 8


async def test_a_request_is_what_every_server_takes() -> None:
    async with pooled(FakeEmbedder(most=3), FakeEmbedder(most=2)) as pool:
        assert pool.most == 2


async def test_where_one_server_fails_another_answers() -> None:
    first, second = FakeEmbedder(*[BackendUnavailable("down")] * 9), FakeEmbedder()
    async with pooled(first, second) as pool:
        for _ in range(4):
            assert await pool.embed(["a"]) == [(1.0,)]
    assert second.asked


async def test_what_is_refused_for_good_is_not_repeated() -> None:
    endpoint = FakeEmbedder(BackendRejected("too long"))
    async with pooled(endpoint) as pool:
        with pytest.raises(BackendRejected):
            await pool.embed(["a"])
    assert len(endpoint.asked) == 1


async def test_another_model_gives_no_vectors() -> None:
    endpoint = FakeEmbedder()
    async with pooled(endpoint) as pool:
        endpoint.revision = "2"
        with pytest.raises(ModelChanged, match="now serves words"):
            await pool.embed(["a"])


class Waking(RecordedTelemetry):
    """Does something when a call is tried again for the first time."""

    def __init__(self, do: Callable[[], None]) -> None:
        super().__init__()
        self._do = do

    def record(self, event: Event) -> None:
        super().record(event)
        if isinstance(event, Retried):
            self._do()


async def test_a_real_model_that_is_unloaded_for_a_while_is_waited_for(
    own_triton: tuple[ServerProcess, str],
) -> None:
    (address,) = parse_embedder_addresses(f"{own_triton[1]}/sentences")
    missed = asyncio.Event()
    told = Waking(missed.set)
    pool = EmbedderPool(
        [(address.target, TritonEmbedder(address, seconds=10))],
        SystemClock(),
        budget=Budget(seconds=60, tries=1000),
        telemetry=told,
    )
    control = TritonClient(address, None, 10)
    with put_back(*own_triton):
        try:
            await pool.resolve()
            before = await pool.embed(["dog", "cat"])
            await unload(own_triton[1], "sentences")
            again = asyncio.create_task(pool.embed(["dog", "cat"]))
            await missed.wait()
            await control.load()
            assert await again == before
        finally:
            await pool.close()
            await control.close()
    assert ("sentences", "backend_unavailable") in told.repeated
