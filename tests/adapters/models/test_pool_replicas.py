"""One model over several endpoints: where calls go, and when."""

import asyncio

import pytest
from tests.fakes.endpoints import FakeEndpoint, Told, hold
from tests.fakes.pools import bench, script, settle

from caliper.adapters.models.retries import Budget
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.core.run import Identity


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
        assert bed.limits[0] == 0


async def test_an_endpoint_that_is_back_is_used_again() -> None:
    broken, sound = FakeEndpoint(lambda _: BackendUnavailable("reset")), FakeEndpoint()
    async with bench(broken, sound) as bed:
        for _ in range(5):
            await bed.ask()
        assert bed.limits[0] == 0
        broken.tell = lambda text: text
        bed.clock.seconds += 2.0
        await bed.ask()
        assert bed.limits[0] == 1
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
        assert bed.limits == [0]
        assert await bed.ask("sound") == "sound"


async def test_endpoints_must_serve_one_model() -> None:
    with pytest.raises(InvalidInput, match=r"host-0 model \(fake, 1\); host-1 model \(fake, 2\)"):
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
