"""One model over its endpoints: what another model answers is never mixed in."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.endpoints import FakeEndpoint, hold
from tests.fakes.pools import AT_ONCE, bench, script, settle

from caliper.adapters.models.identity_lease import IdentityLease
from caliper.adapters.models.pool import Pool
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
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion


async def test_no_identity_before_it_is_known() -> None:
    with pytest.raises(CaliperError, match="before it was resolved"):
        _ = Pool([("host", FakeEndpoint())], FakeClock()).identity


async def test_a_server_that_was_started_anew_proves_itself_before_it_answers() -> None:
    endpoint = FakeEndpoint(script(BackendUnavailable("reset")))
    async with bench(endpoint) as bed:
        assert await bed.ask() == "ok"
        # When the run began, after the break, and after the reply.
        assert endpoint.resolved == 3
        endpoint.tell = script(BackendUnavailable("reset"))
        endpoint.revision = "2"
        for _ in range(3):
            with pytest.raises(ModelChanged, match="now serves model"):
                await bed.ask()
        # Of the new server nothing was asked but who it is.
        assert len(endpoint.texts) == 3


async def test_nothing_is_asked_of_another_model_after_a_while() -> None:
    endpoint = FakeEndpoint()
    async with bench(endpoint) as bed:
        await bed.ask("first")
        endpoint.revision = "2"
        bed.clock.seconds += 6
        with pytest.raises(ModelChanged):
            await bed.ask("second")
        assert endpoint.texts == ["first"]


async def test_a_reply_is_given_once_the_model_was_proved_after_it() -> None:
    endpoint = FakeEndpoint()

    def another(text: str) -> str:
        # Nothing is cut, and no time passes: only who is asked for it tells the change.
        endpoint.revision = "2"
        return text

    endpoint.tell = another
    async with bench(endpoint) as bed:
        with pytest.raises(ModelChanged, match="now serves model"):
            await bed.ask()


@pytest.mark.parametrize(
    "trouble",
    [BackendOverloaded("HTTP 429"), BackendUnavailable("HTTP 503"), BackendTimeout("no answer")],
)
async def test_a_reply_is_kept_while_the_model_cannot_be_proved(trouble: BackendError) -> None:
    endpoint = FakeEndpoint()

    def once(text: str) -> str:
        endpoint.resolving = [trouble, trouble]
        return f"reply {len(endpoint.texts)}"

    endpoint.tell = once
    async with bench(endpoint) as bed:
        assert await bed.ask("first") == "reply 1"
        assert endpoint.texts == ["first"]
        # When the run began, and after the reply: twice in vain.
        assert endpoint.resolved == 4


async def test_a_reply_that_was_kept_is_not_given_if_another_model_is_there_by_then() -> None:
    endpoint = FakeEndpoint()

    def once(text: str) -> str:
        endpoint.resolving = [BackendUnavailable("reset")]
        endpoint.revision = "2"
        return text

    endpoint.tell = once
    async with bench(endpoint) as bed:
        with pytest.raises(ModelChanged, match="now serves model"):
            await bed.ask("first")
        assert endpoint.texts == ["first"]


async def test_a_reply_that_one_endpoint_gave_is_not_proved_by_another() -> None:
    endpoint, other = FakeEndpoint(), FakeEndpoint(lambda _: "other")

    def once(text: str) -> str:
        endpoint.resolving = [BackendUnavailable("reset")]
        endpoint.revision = "2"
        return text

    endpoint.tell = once
    async with bench(endpoint, other) as bed:
        assert await bed.ask("first") == "other"
        assert (endpoint.texts, other.texts) == (["first"], ["first"])


async def test_a_reply_that_is_not_the_last_is_given_on_trust_and_the_last_tells() -> None:
    endpoint = hold(FakeEndpoint())
    async with bench(endpoint, pace=AT_ONCE) as bed:
        asking = [asyncio.create_task(bed.ask(str(number))) for number in range(50)]
        await settle()
        endpoint.revision = "2"
        endpoint.free.set()
        told = await asyncio.gather(*asking, return_exceptions=True)
        assert told[:49] == [str(number) for number in range(49)]
        assert isinstance(told[49], ModelChanged)
        assert endpoint.resolved == 2


async def test_replies_wait_for_a_proof_when_the_last_is_a_second_old() -> None:
    endpoint = hold(FakeEndpoint())
    async with bench(endpoint, pace=AT_ONCE) as bed:
        asking = [asyncio.create_task(bed.ask()) for _ in range(50)]
        await settle()
        bed.clock.seconds += 1
        endpoint.revision = "2"
        endpoint.free.set()
        told = await asyncio.gather(*asking, return_exceptions=True)
        assert {type(one) for one in told} == {ModelChanged}
        # Before it was known, and for those who waited by then.
        assert endpoint.resolved <= 3


async def test_what_was_given_on_trust_is_proved_when_the_last_call_fails() -> None:
    endpoint = hold(FakeEndpoint(script("given", then=BackendRejected("HTTP 413"))))
    async with bench(endpoint, pace=AT_ONCE) as bed:
        asking = [asyncio.create_task(bed.ask()) for _ in range(2)]
        await settle()
        endpoint.revision = "2"
        endpoint.free.set()
        told = await asyncio.gather(*asking, return_exceptions=True)
        assert told[0] == "given"
        assert isinstance(told[1], ModelChanged)


class OneHangs(FakeEndpoint):
    """Answers every call but one whose text is `hang`."""

    async def complete(
        self, messages: Sequence[ChatMessage], *settings: Any, **others: Any
    ) -> Completion:
        if messages[0].content == ("hang",):
            self.texts.append("hang")
            await asyncio.Event().wait()
        return await super().complete(messages, *settings, **others)


async def test_what_was_given_on_trust_is_proved_when_the_last_call_was_cancelled() -> None:
    endpoint = OneHangs()
    async with bench(endpoint) as bed:
        last = asyncio.create_task(bed.ask("hang"))
        await settle()
        endpoint.revision = "2"
        assert await bed.ask("given") == "given"
        last.cancel()
        await asyncio.wait([last])
        with pytest.raises(ModelChanged):
            await bed.ask("next")
        # It was told before anything else was asked.
        assert endpoint.texts == ["hang", "given"]


async def test_a_reply_during_a_proof_needs_the_next_one() -> None:
    endpoint = FakeEndpoint()
    asked, free, told = asyncio.Event(), asyncio.Event(), 0

    async def slowly() -> Identity:
        nonlocal told
        told += 1
        found = Identity("fake", "model", endpoint.revision, cached=True)
        asked.set()
        await free.wait()
        return found

    async with bench(endpoint) as bed:
        proof = IdentityLease(slowly, lambda: bed.pool.identity, bed.clock)
        first = asyncio.create_task(proof.after_reply(last=True))
        await asked.wait()
        endpoint.revision = "2"
        second = asyncio.create_task(proof.after_reply(last=True))
        await settle()
        free.set()
        await first
        with pytest.raises(ModelChanged):
            await second
        assert told == 2


async def test_a_model_that_is_no_longer_served_is_another() -> None:
    endpoint = FakeEndpoint()
    async with bench(endpoint) as bed:
        endpoint.resolving = [InvalidInput("unknown model")]
        bed.clock.seconds += 6
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
        bed.clock.seconds += 6
        first, second = (asyncio.create_task(bed.ask(name)) for name in "ab")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "b"
        # When the run began, before the two calls, and after the one that was left.
        assert endpoint.resolved == 3
