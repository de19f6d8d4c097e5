import asyncio

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.embedders import FakeEmbedder
from tests.fakes.endpoints import FakeEndpoint, hold
from tests.fakes.pools import bench, script, settle

from caliper.adapters.models.cost import Cost
from caliper.adapters.models.pool import EmbedderPool
from caliper.core.errors import BackendOverloaded, BackendRejected
from caliper.ports.models import Completion, Usage

REPLY = Completion("yes", usage=Usage(10, 3, 4))


async def test_calls_and_tokens_add_up() -> None:
    async with bench(FakeEndpoint(script(then=REPLY))) as bed:
        for _ in range(2):
            await bed.ask()
        assert bed.pool.cost == Cost(2, 0, 0.0, 20, 6, 8)


async def test_a_call_that_is_tried_again_counts_once_with_its_waits() -> None:
    async with bench(FakeEndpoint(script(BackendOverloaded("busy", 7.0), then=REPLY))) as bed:
        await bed.ask()
        assert bed.pool.cost == Cost(1, 0, bed.clock.seconds, 10, 3, 4)
        assert bed.clock.seconds >= 7.0


async def test_calls_that_overlap_count_one_by_one() -> None:
    endpoint = hold(FakeEndpoint())
    async with bench(endpoint) as bed:
        calls = [asyncio.create_task(bed.ask(text)) for text in "abc"]
        await settle()
        await bed.clock.sleep(2.0)
        endpoint.free.set()
        await asyncio.gather(*calls)
        assert (bed.pool.cost.calls, bed.pool.cost.seconds) == (3, 6.0)


async def test_failed_calls_count() -> None:
    async with bench(FakeEndpoint(script(then=BackendRejected("too long")))) as bed:
        with pytest.raises(BackendRejected):
            await bed.ask()
        assert bed.pool.cost == Cost(calls=1, failed=1)


def test_costs_are_added_figure_by_figure() -> None:
    one, other = Cost(1, 2, 3.5, 4, 5, 6), Cost(10, 20, 30.0, 40, 50, 60)
    assert one + other == Cost(11, 22, 33.5, 44, 55, 66)
    assert one == Cost(1, 2, 3.5, 4, 5, 6)


async def test_calls_of_an_embedder_are_what_a_request_may_hold() -> None:
    endpoint = FakeEmbedder(None, BackendRejected("too long"), most=3)
    pool = EmbedderPool([("host", endpoint)], FakeClock())
    await pool.resolve()
    with pytest.raises(BackendRejected):
        await pool.embed(["a", "bb", "ccc", "dddd"])
    assert await pool.embed(["a", "bb", "ccc", "dddd"]) == [(1.0,), (2.0,), (3.0,), (4.0,)]
    assert await pool.embed([]) == []
    assert endpoint.asked == [("a", "bb", "ccc"), ("dddd",)] * 2
    assert (pool.cost.calls, pool.cost.failed) == (4, 1)
    await pool.close()
