"""One model over its endpoints: what is tried again, when, where, and what is never mixed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.clock import FakeClock
from tests.fakes.endpoints import FakeEndpoint, Told, hold
from tests.fakes.telemetry import ToldStage

from caliper.adapters.models.gate import Pace
from caliper.adapters.models.pool import Pool
from caliper.adapters.models.retrying import Budget
from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    CaliperError,
    InvalidInput,
    ModelChanged,
)
from caliper.core.question import Decoding
from caliper.ports.models import Completion, Identity, Message, Usage

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
        assert bed.pool.limits == {"host-0": 16}
        answers = await asyncio.gather(*(bed.ask(str(number)) for number in range(500)))
        assert answers == [str(number) for number in range(500)]
        assert endpoint.most_in_flight == 20
        assert bed.pool.limits == {"host-0": 20}


async def test_an_overloaded_endpoint_gets_less_at_once() -> None:
    storm = [BackendOverloaded("busy")] * 40
    endpoint = FakeEndpoint(script(*storm))
    async with bench(endpoint, in_flight=40, pace=AT_ONCE, budget=Budget(tries=60)) as bed:
        calls = [asyncio.create_task(bed.ask(str(number))) for number in range(40)]
        hold(endpoint)
        await settle()
        assert endpoint.in_flight == 40
        limits = set()
        endpoint.tell, tell = (
            lambda text: limits.add(bed.pool.limits["host-0"]) or tell(text),
            endpoint.tell,
        )
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


async def test_calls_go_where_the_least_is_to_do() -> None:
    endpoints = [hold(FakeEndpoint()) for _ in range(3)]
    async with bench(*endpoints, in_flight=30) as bed:
        calls = [asyncio.create_task(bed.ask(str(number))) for number in range(18)]
        await settle()
        assert [endpoint.in_flight for endpoint in endpoints] == [6, 6, 6]
        endpoints[1].free.set()
        await settle()
        calls += [asyncio.create_task(bed.ask(str(number))) for number in range(4)]
        await settle()
        assert len(endpoints[1].texts) == 10
        for endpoint in endpoints:
            endpoint.free.set()
        await asyncio.gather(*calls)


async def test_what_belongs_together_goes_to_one_endpoint() -> None:
    endpoints = [FakeEndpoint(), FakeEndpoint()]
    async with bench(*endpoints, in_flight=4) as bed:
        asked = [f"{caption}/{number}" for number in range(10) for caption in "abcd"]
        await asyncio.gather(*(bed.ask(text, affinity=text[0]) for text in asked))
    went = [{text[0] for text in endpoint.texts} for endpoint in endpoints]
    assert went[0] | went[1] == set("abcd")
    assert went[0] & went[1] == set()
    assert len(went[0]) == len(went[1]) == 2


async def test_when_an_endpoint_fails_another_answers_at_once() -> None:
    endpoints = FakeEndpoint(script(BackendUnavailable("reset"))), FakeEndpoint()
    async with bench(*endpoints) as bed:
        assert await bed.ask("yes") == "yes"
        assert bed.clock.seconds == 0
    assert [endpoint.texts for endpoint in endpoints] == [["yes"], ["yes"]]


async def test_a_dead_endpoint_costs_few_calls_where_another_is_alive() -> None:
    broken, sound = FakeEndpoint(lambda _: BackendUnavailable("reset")), FakeEndpoint()
    async with bench(broken, sound) as bed:
        await asyncio.gather(*(bed.ask(f"{number}", affinity="a") for number in range(100)))
        assert len(sound.texts) == 100
        # What was waiting for it is moved, and one call at a time looks whether it is back.
        assert len(broken.texts) < 40
        assert bed.pool.limits["host-0"] == 0


async def test_an_endpoint_that_is_back_is_used_again() -> None:
    broken, sound = FakeEndpoint(lambda _: BackendUnavailable("reset")), FakeEndpoint()
    async with bench(broken, sound) as bed:
        for _ in range(5):
            await bed.ask()
        assert bed.pool.limits["host-0"] == 0
        broken.tell = lambda text: text
        bed.clock.seconds += 2.0
        await bed.ask()
        assert bed.pool.limits["host-0"] == 1
        hold(broken)
        calls = [asyncio.create_task(bed.ask()) for _ in range(2)]
        await settle()
        assert broken.in_flight == 1
        broken.free.set()
        await asyncio.gather(*calls)


async def test_an_endpoint_that_stays_dead_keeps_nobody_waiting() -> None:
    endpoint = FakeEndpoint(lambda _: BackendUnavailable("refused"))
    budget = Budget(seconds=60.0)
    async with bench(endpoint, in_flight=8, budget=budget) as bed:
        ended = await asyncio.gather(
            *(bed.ask(str(number)) for number in range(500)), return_exceptions=True
        )
        assert {type(end) for end in ended} == {BackendUnavailable}
        assert {str(end) for end in ended} == {"refused"}
        # It is looked for at growing intervals, not once a caller.
        assert len(endpoint.texts) < 40
        assert bed.clock.seconds < 60 + 31
        # Back again, and the next who is due finds out.
        endpoint.tell = lambda text: text
        bed.clock.seconds += 40
        assert await bed.ask("again") == "again"


async def test_a_request_that_breaks_its_endpoint_takes_no_other_with_it() -> None:
    def tell(text: str) -> Told:
        return BackendUnavailable("HTTP 500") if text.startswith("poison") else text

    endpoint = FakeEndpoint(tell)
    async with bench(endpoint, in_flight=8) as bed:
        texts = [f"poison {number}" for number in range(8)] + [str(n) for n in range(200)]
        ended = await asyncio.gather(*map(bed.ask, texts), return_exceptions=True)
        assert ended[8:] == texts[8:]
        assert all(isinstance(end, BackendUnavailable) for end in ended[:8])


async def test_what_did_not_fail_yet_finds_out_whether_an_endpoint_is_back() -> None:
    def tell(text: str) -> Told:
        return BackendUnavailable("HTTP 500") if text.startswith("poison") else text

    endpoint = FakeEndpoint(tell)
    budget = Budget(seconds=2.0)
    async with bench(endpoint, in_flight=8, budget=budget) as bed:
        poison = (bed.ask(f"poison {number}") for number in range(8))
        await asyncio.gather(*poison, return_exceptions=True)
        # It comes when nothing but trouble was heard for longer than patience lasts.
        assert bed.pool.limits == {"host-0": 0}
        assert await bed.ask("sound") == "sound"


async def test_endpoints_must_serve_one_model() -> None:
    with pytest.raises(InvalidInput, match="host-0 model 1; host-1 model 2"):
        async with bench(FakeEndpoint(), FakeEndpoint(revision="2")):
            pass


async def test_an_endpoint_that_starts_up_is_waited_for() -> None:
    endpoint = FakeEndpoint()
    endpoint.resolving = [BackendUnavailable("HTTP 503")] * 2
    async with bench(endpoint) as bed:
        assert bed.pool.identity == Identity("fake", "model", "1", cached=True)
        assert len(bed.clock.slept) == 2


async def test_an_endpoint_that_is_not_there_is_named() -> None:
    endpoint = FakeEndpoint()
    endpoint.resolving = [BackendUnavailable("refused")] * 100
    with pytest.raises(BackendUnavailable, match=r"^host-1: refused"):
        async with bench(FakeEndpoint(), endpoint):
            pass
    assert endpoint.closed


async def test_no_identity_before_it_is_known() -> None:
    with pytest.raises(CaliperError, match="before it was resolved"):
        _ = Pool([("host", FakeEndpoint())], FakeClock()).identity


async def test_a_server_that_was_started_anew_proves_itself_before_it_answers() -> None:
    endpoint = FakeEndpoint(script(BackendUnavailable("reset")))
    async with bench(endpoint) as bed:
        assert await bed.ask() == "ok"
        assert endpoint.resolved == 2
        endpoint.tell = script(BackendUnavailable("reset"))
        endpoint.revision = "2"
        for _ in range(3):
            with pytest.raises(ModelChanged, match="now serves model"):
                await bed.ask()
        # Of the new server nothing was asked but who it is.
        assert len(endpoint.texts) == 3


async def test_identities_are_proved_anew_in_a_while() -> None:
    endpoint = FakeEndpoint()
    async with bench(endpoint) as bed:
        await bed.ask()
        assert endpoint.resolved == 1
        bed.clock.seconds += 61
        await asyncio.gather(*(bed.ask() for _ in range(9)))
        assert endpoint.resolved == 2
        endpoint.revision = "2"
        bed.clock.seconds += 61
        with pytest.raises(ModelChanged):
            await bed.ask()


async def test_a_model_that_is_no_longer_served_is_another() -> None:
    endpoint = FakeEndpoint()
    async with bench(endpoint) as bed:
        endpoint.resolving = [InvalidInput("unknown model")]
        bed.clock.seconds += 61
        with pytest.raises(ModelChanged, match="no longer serves"):
            await bed.ask()


async def test_another_model_in_a_reply_stops_at_once() -> None:
    endpoint = FakeEndpoint(lambda _: ModelChanged("another"))
    other = FakeEndpoint()
    async with bench(endpoint, other) as bed:
        with pytest.raises(ModelChanged):
            await bed.ask()
        assert (len(endpoint.texts), other.texts) == (1, [])


async def test_a_caller_who_goes_away_does_not_take_the_proof_from_the_others() -> None:
    endpoint = FakeEndpoint()
    async with bench(endpoint) as bed:
        bed.clock.seconds += 61
        first, second = (asyncio.create_task(bed.ask(name)) for name in "ab")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "b"
        assert endpoint.resolved == 2


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
    told, clock = ToldStage(), FakeClock()
    first = FakeEndpoint(script(BackendUnavailable("http://host-0 is down")))
    second = FakeEndpoint(script(then=Completion("ok", usage=Usage(5, 2, 1))))
    named = [("host-0", first), ("host-1", second)]
    pool = Pool(named, clock, telemetry=told)
    await pool.resolve()
    assert told.gates.keys() == {"model/1", "model/2"}
    for text in ("1", "2"):
        await pool.complete((Message("user", (text,)),), Decoding(), affinity="a")
    await pool.close()
    assert ("model/1", "backend_unavailable") in told.calls
    assert told.calls.count(("model/2", "ok")) >= 1
    assert told.repeated == [("model/1", "backend_unavailable")]
    assert told.tokens["model/2"] == 7 * told.calls.count(("model/2", "ok"))
    assert all("host" not in endpoint for endpoint, _ in told.calls)


async def test_a_call_that_is_cancelled_says_nothing() -> None:
    told = ToldStage()
    endpoint = hold(FakeEndpoint())
    pool = Pool([("host", endpoint)], FakeClock(), telemetry=told)
    await pool.resolve()
    calling = asyncio.create_task(pool.complete((Message("user", ("1",)),), Decoding()))
    await settle()
    assert told.gates["model"].in_flight == 1
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    await pool.close()
    assert told.calls == []
    assert told.gates["model"].in_flight == 0
