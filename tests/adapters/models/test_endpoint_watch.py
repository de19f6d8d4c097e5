"""Whether a model's endpoints are there, as readiness is told: by calls, and by looking."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager

import pytest
from tests.fakes.endpoints import FakeEndpoint
from tests.fakes.pools import Bench, bench, settle

from caliper.adapters.models.congestion import CongestionLimits
from caliper.adapters.models.retries import Budget
from caliper.core.errors import BackendError, BackendOverloaded, BackendUnavailable

DOWN = BackendUnavailable("refused")


def watched(*endpoints: FakeEndpoint, tries: int = 10) -> AbstractAsyncContextManager[Bench]:
    budget = Budget(tries=tries, seconds=1e6)
    return bench(*endpoints, budget=budget, pace=CongestionLimits(failures=3))


async def there(bed: Bench) -> bool:
    """Whether the check says so, asked every five seconds."""
    bed.clock.seconds += 5
    try:
        await bed.pool.check()
    except BackendUnavailable:
        return False
    finally:
        # The look that the check began comes to its end.
        await settle()
    return True


def stop(endpoint: FakeEndpoint) -> None:
    endpoint.resolving = [DOWN] * 1000
    endpoint.tell = lambda _: DOWN


def start(endpoint: FakeEndpoint) -> None:
    endpoint.resolving = []
    endpoint.tell = lambda _: "ok"


async def test_an_endpoint_that_nobody_calls_is_looked_at() -> None:
    endpoint = FakeEndpoint()
    async with watched(endpoint) as bed:
        assert await there(bed)
        stop(endpoint)
        told = [await there(bed) for _ in range(6)]
        assert told == [True, True, True, False, False, False]
        start(endpoint)
        assert [await there(bed) for _ in range(3)] == [False, True, True]
        assert endpoint.texts == []


async def test_one_failed_call_and_one_look_in_vain_are_no_end() -> None:
    endpoint = FakeEndpoint()
    async with watched(endpoint, tries=1) as bed:
        endpoint.tell = lambda _: DOWN
        with pytest.raises(BackendError):
            await bed.ask()
        endpoint.resolving = [DOWN]
        start_again = [await there(bed) for _ in range(5)]
        assert all(start_again)


async def test_calls_that_fail_in_a_row_are_an_end_at_once() -> None:
    endpoint = FakeEndpoint()
    async with watched(endpoint, tries=3) as bed:
        # It says who it is, and fails at every call.
        endpoint.tell = lambda _: DOWN
        with pytest.raises(BackendError):
            await bed.ask()
        assert not await there(bed)
        endpoint.tell = lambda _: "ok"
        assert not await there(bed)
        await bed.ask()
        assert await there(bed)


async def test_a_shut_gate_that_nobody_knocks_at_does_not_say_so_for_ever() -> None:
    endpoint = FakeEndpoint()
    async with watched(endpoint, tries=3) as bed:
        stop(endpoint)
        with pytest.raises(BackendError):
            await bed.ask()
        start(endpoint)
        told = [await there(bed) for _ in range(15)]
        assert (told[0], told[-1]) == (False, True)
        assert told == sorted(told)


async def test_a_busy_endpoint_is_there_and_is_not_asked() -> None:
    endpoint = FakeEndpoint(lambda _: BackendOverloaded("busy"))
    async with watched(endpoint, tries=1) as bed:
        for _ in range(6):
            with pytest.raises(BackendError):
                await bed.ask()
            assert await there(bed)


async def test_an_endpoint_that_serves_another_model_is_of_no_use() -> None:
    endpoint = FakeEndpoint()
    async with watched(endpoint) as bed:
        endpoint.revision = "2"
        assert [await there(bed) for _ in range(4)] == [True, True, True, False]
        with pytest.raises(BackendUnavailable, match=r"host-0: the endpoint now serves model"):
            await bed.pool.check()


async def test_one_of_two_is_enough_and_its_loss_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    one, other = FakeEndpoint(), FakeEndpoint()
    async with watched(one, other) as bed:
        stop(one)
        assert all([await there(bed) for _ in range(8)])
        start(one)
        assert all([await there(bed) for _ in range(3)])
        assert [record.getMessage() for record in caplog.records] == [
            "an endpoint of the model is down: host-0: refused",
            "an endpoint of the model is up again: host-0",
        ]


async def test_a_look_that_takes_long_is_waited_for_by_nobody() -> None:
    endpoint = FakeEndpoint()
    async with watched(endpoint) as bed:
        resolve, held = endpoint.resolve, asyncio.Event()

        async def slow() -> object:
            await held.wait()
            return await resolve()

        endpoint.resolve = slow  # type: ignore[assignment,method-assign]  # a slow fake of a fake
        assert all([await there(bed) for _ in range(9)])
