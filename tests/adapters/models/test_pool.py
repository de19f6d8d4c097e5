"""One model over an endpoint: what is tried again, when, and how many calls are made at once."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.clock import FakeClock
from tests.fakes.endpoints import FakeEndpoint, Told, hold
from tests.fakes.pools import AT_ONCE, bench, script, settle
from tests.fakes.telemetry import RecordedTelemetry

from caliper.adapters.models.pool import Pool
from caliper.adapters.models.retries import Budget
from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
)
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Completion, Usage

PASSING = (BackendOverloaded("busy"), BackendUnavailable("down"), BackendTimeout("late"))


@pytest.mark.parametrize("error", PASSING, ids=lambda error: type(error).__name__)
async def test_passing_trouble_is_tried_again(error: BackendError) -> None:
    endpoint = FakeEndpoint(script(error, error))
    async with bench(endpoint) as bed:
        assert await bed.ask() == "ok"
        assert len(endpoint.texts) == 3
        assert bed.clock.seconds > 0


async def test_tries_are_bounded_and_the_last_trouble_is_told() -> None:
    endpoint = FakeEndpoint(script(BackendTimeout("first"), then=BackendUnavailable("HTTP 500")))
    async with bench(endpoint, budget=Budget(tries=4)) as bed:
        with pytest.raises(BackendUnavailable, match="HTTP 500"):
            await bed.ask()
        assert len(endpoint.texts) == 4


async def test_seconds_are_bounded() -> None:
    endpoint = FakeEndpoint(lambda _: BackendUnavailable("HTTP 500"))
    async with bench(endpoint, budget=Budget(seconds=20, tries=10**6)) as bed:
        with pytest.raises(BackendUnavailable):
            await bed.ask()
        assert bed.clock.seconds <= 20 + 31


async def test_what_is_refused_for_good_is_not_repeated() -> None:
    endpoint = FakeEndpoint(lambda _: BackendRejected("HTTP 413"))
    async with bench(endpoint, FakeEndpoint()) as bed:
        with pytest.raises(BackendRejected):
            await bed.ask()
        assert len(endpoint.texts) == 1


async def test_waits_as_long_as_the_endpoint_asks() -> None:
    endpoint = FakeEndpoint(script(BackendOverloaded("busy", 7.0)))
    async with bench(endpoint) as bed:
        assert await bed.ask() == "ok"
        assert 7.0 <= bed.clock.seconds <= 15.4


async def test_all_callers_wait_as_long_as_the_endpoint_asks() -> None:
    endpoint = FakeEndpoint(script(BackendOverloaded("busy", 7.0)))
    async with bench(endpoint, in_flight=1) as bed:
        times = {}

        async def call(name: str) -> None:
            await bed.ask(name)
            times[name] = bed.clock.seconds

        await asyncio.gather(*(call(str(number)) for number in range(5)))
        assert min(times.values()) >= 7.0
        assert len(endpoint.texts) == 6


async def test_does_not_wait_longer_than_its_budget() -> None:
    endpoint = FakeEndpoint(lambda _: BackendOverloaded("busy", 3600.0))
    async with bench(endpoint) as bed:
        with pytest.raises(BackendOverloaded) as caught:
            await bed.ask()
        assert caught.value.retry_after == 3600
        assert bed.clock.slept == []


async def test_never_more_calls_at_once_than_configured() -> None:
    endpoint = FakeEndpoint()
    async with bench(endpoint, in_flight=20) as bed:
        assert bed.limits == [16]
        answers = await asyncio.gather(*(bed.ask(str(number)) for number in range(500)))
        assert answers == [str(number) for number in range(500)]
        # One of the calls may be proving, with its answer in hand, whose model it was.
        assert 19 <= endpoint.most_in_flight <= 20
        assert bed.limits == [20]


async def test_an_overloaded_endpoint_gets_less_at_once() -> None:
    storm = [BackendOverloaded("busy")] * 40
    endpoint = FakeEndpoint(script(*storm))
    async with bench(endpoint, in_flight=40, pace=AT_ONCE, budget=Budget(tries=60)) as bed:
        calls = [asyncio.create_task(bed.ask(str(number))) for number in range(40)]
        hold(endpoint)
        await settle()
        assert endpoint.in_flight == 40
        limits = set()
        endpoint.tell, tell = (lambda text: limits.add(bed.limits[0]) or tell(text), endpoint.tell)
        endpoint.free.set()
        await asyncio.gather(*calls)
        assert {40, 20} < limits


async def test_first_come_first_served() -> None:
    endpoint = hold(FakeEndpoint())
    async with bench(endpoint, in_flight=1) as bed:
        calls = [asyncio.create_task(bed.ask(str(number))) for number in range(9)]
        await settle()
        endpoint.free.set()
        await asyncio.gather(*calls)
        assert endpoint.texts == [str(number) for number in range(9)]


async def test_who_goes_away_holds_up_nobody() -> None:
    endpoint = hold(FakeEndpoint())
    async with bench(endpoint, in_flight=2) as bed:
        calls = [asyncio.create_task(bed.ask(str(number))) for number in range(6)]
        await settle()
        # One in flight, and one that waits.
        for gone in (calls[0], calls[3]):
            gone.cancel()
        await settle()
        assert endpoint.in_flight == 2
        endpoint.free.set()
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert [end for end in ended if isinstance(end, str)] == ["1", "2", "4", "5"]
        assert endpoint.texts == ["0", "1", "2", "4", "5"]


async def test_who_goes_away_in_the_moment_of_its_turn_gives_it_back() -> None:
    endpoint = hold(FakeEndpoint())
    async with bench(endpoint, in_flight=1) as bed:
        first, second, third = (asyncio.create_task(bed.ask(name)) for name in "abc")
        await settle()
        first.cancel()
        # The turn of the second has come when this task goes on, and it does not know yet.
        await asyncio.sleep(0)
        second.cancel()
        endpoint.free.set()
        assert await third == "c"
        assert endpoint.texts[-1] == "c"


WEATHER = st.lists(
    st.sampled_from(["ok", "busy", "wait", "down", "late", "refused"]), min_size=1, max_size=60
)

TOLD: dict[str, Told] = {
    "ok": "fine",
    "busy": BackendOverloaded("busy"),
    "wait": BackendOverloaded("busy", 3.0),
    "down": BackendUnavailable("down"),
    "late": BackendTimeout("late"),
    "refused": BackendRejected("no"),
}


@given(st.lists(WEATHER, min_size=1, max_size=3), st.integers(1, 12), st.integers(1, 40))
def test_in_any_weather_every_call_ends_and_every_turn_is_given_back(
    weather: list[list[str]], in_flight: int, calls: int
) -> None:
    async def run() -> None:
        endpoints = [FakeEndpoint(script(*(TOLD[name] for name in each))) for each in weather]
        async with bench(*endpoints, in_flight=in_flight) as bed:
            asked = (bed.ask(str(number), affinity=str(number % 5)) for number in range(calls))
            ended = await asyncio.gather(*asked, return_exceptions=True)
            for end in ended:
                assert isinstance(end, BackendError) or end in ("fine", "ok")
            share = -(-in_flight // len(endpoints))
            assert all(endpoint.most_in_flight <= share for endpoint in endpoints)

    asyncio.run(run())


async def test_calls_are_told_by_the_name_of_the_model() -> None:
    told, clock = RecordedTelemetry(), FakeClock()
    first = FakeEndpoint(script(BackendUnavailable("http://host-0 is down")))
    second = FakeEndpoint(script(then=Completion("ok", usage=Usage(5, 2, 1))))
    named = [("host-0", first), ("host-1", second)]
    pool = Pool(named, clock, telemetry=told)
    await pool.resolve()
    assert told.gates.keys() == {"model/1", "model/2"}
    for text in ("1", "2"):
        await pool.complete((ChatMessage("user", (text,)),), Decoding(), affinity="a")
    await pool.close()
    assert ("model/1", "backend_unavailable") in told.calls
    assert told.calls.count(("model/2", "ok")) >= 1
    assert told.repeated == [("model/1", "backend_unavailable")]
    assert told.tokens["model/2"] == 7 * told.calls.count(("model/2", "ok"))
    assert all("host" not in endpoint for endpoint, _ in told.calls)


async def test_a_call_that_is_cancelled_says_nothing() -> None:
    told = RecordedTelemetry()
    endpoint = hold(FakeEndpoint())
    pool = Pool([("host", endpoint)], FakeClock(), telemetry=told)
    await pool.resolve()
    calling = asyncio.create_task(pool.complete((ChatMessage("user", ("1",)),), Decoding()))
    await settle()
    assert told.gates["model"].in_flight == 1
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    await pool.close()
    assert told.calls == []
    assert told.gates["model"].in_flight == 0
