"""What calls cost."""

import asyncio

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.embedders import FakeEmbedder
from tests.fakes.models import ScriptedModel

from caliper.adapters.models.pool import EmbedderPool
from caliper.core.errors import BackendRejected, BackendTimeout
from caliper.core.question import Decoding
from caliper.ports.models import Completion, Message, Usage
from caliper.runtime.metering import MeteredChatModel, MeteredEmbedder, Spent

ASKED = [Message("user", ("hi",))]


class Slow(ScriptedModel):
    """Takes two seconds a call."""

    def __init__(self, clock: FakeClock, answer: Completion | Exception) -> None:
        super().__init__(lambda text, before: answer)
        self._clock = clock

    async def complete(self, *request: object) -> Completion:
        await self._clock.sleep(2.0)
        return await super().complete(*request)  # type: ignore[arg-type]


async def test_calls_tokens_and_seconds_add_up() -> None:
    clock = FakeClock()
    slow = Slow(clock, Completion("yes", usage=Usage(10, 3, 4)))
    model = MeteredChatModel(slow, clock)
    for _ in range(2):
        assert (await model.complete(ASKED, Decoding())).text == "yes"
    assert model.spent == Spent(2, 0, 4.0, 20, 6, 8)
    assert model.identity == slow.identity


def test_costs_of_calls_are_added_figure_by_figure() -> None:
    one, other = Spent(1, 2, 3.5, 4, 5, 6), Spent(10, 20, 30.0, 40, 50, 60)
    assert one + other == Spent(11, 22, 33.5, 44, 55, 66)
    assert one == Spent(1, 2, 3.5, 4, 5, 6)


async def test_calls_that_overlap_count_one_by_one() -> None:
    clock = FakeClock()
    model = MeteredChatModel(Slow(clock, Completion("yes")), clock)
    await asyncio.gather(*(model.complete(ASKED, Decoding()) for _ in range(3)))
    assert (model.spent.calls, model.spent.seconds, clock.seconds) == (3, 6.0, 2.0)


async def test_failed_calls_count_with_their_time() -> None:
    clock = FakeClock()
    model = MeteredChatModel(Slow(clock, BackendTimeout("late")), clock)
    with pytest.raises(BackendTimeout):
        await model.complete(ASKED, Decoding())
    assert model.spent == Spent(calls=1, failed=1, seconds=2.0)


async def test_what_is_asked_goes_through_and_closing_too() -> None:
    inner = ScriptedModel(lambda text, before: "yes")
    model = MeteredChatModel(inner, FakeClock())
    await model.complete(ASKED, Decoding(seed=3), {"type": "string"})
    assert (inner.calls[0].decoding.seed, inner.calls[0].schema) == (3, {"type": "string"})
    await model.close()
    assert inner.closed


async def test_calls_of_an_embedder_are_what_a_request_may_hold() -> None:
    endpoint = FakeEmbedder(None, BackendRejected("too long"), most=3)
    pool = EmbedderPool([("host", endpoint)], FakeClock())
    await pool.resolve()
    embedder = MeteredEmbedder(pool, FakeClock())
    with pytest.raises(BackendRejected):
        await embedder.embed(["a", "bb", "ccc", "dddd"])
    assert await embedder.embed(["a", "bb", "ccc", "dddd"]) == [(1.0,), (2.0,), (3.0,), (4.0,)]
    assert await embedder.embed([]) == []
    assert endpoint.asked == [("a", "bb", "ccc"), ("dddd",)] * 2
    assert (embedder.spent.calls, embedder.spent.failed) == (4, 1)
    await pool.close()
