import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.fakes.boards import Board, Front, scores
from tests.fakes.clock import PATIENCE

from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
    StoreUnavailable,
)
from caliper.core.run import RunState
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.runs import refuse, run_store

DOWN = BackendUnavailable("down")


@pytest.fixture
def front() -> Front:
    return Front(Board(scores("running", 1)))


async def states(watched: AsyncIterator[Evaluation]) -> list[tuple[str, int]]:
    """State and scored questions of every message."""
    async with asyncio.timeout(PATIENCE):
        return [seen(found) async for found in watched]


def seen(found: Evaluation) -> tuple[str, int]:
    return str(found.state), sum(part.coverage.scored for part in found.benchmarks)


async def test_the_full_state_first_and_then_what_is_told(front: Front) -> None:
    gateway, run = await front.start_run()
    front.board.told = [
        [scores("running", known) for known in (1, 2, 3)] + [scores("complete", 10)]
    ]
    watched = gateway.watch(run, 0.5)
    assert await states(watched) == [
        ("running", 1), ("running", 2), ("running", 3), ("complete", 10)
    ]  # fmt: skip
    assert front.board.watched == 1
    assert set(front.clock.slept) == {0.5}


@pytest.mark.parametrize(
    "trouble", [DOWN, BackendTimeout("late"), BackendOverloaded("busy"), StoreUnavailable("down")]
)
async def test_an_aggregator_that_goes_away_is_listened_to_again(
    front: Front, trouble: Exception
) -> None:
    gateway, run = await front.start_run()
    front.board.told = [[scores("running", 2), trouble], [trouble], [], [scores("complete", 10)]]
    found = await states(gateway.watch(run, 0.5))
    assert found == [("running", 1), ("running", 2), ("complete", 10)]
    assert front.board.watched == 4


@pytest.mark.parametrize("refusal", [BackendRejected("no token"), InvalidInput("plan lost")])
async def test_what_will_not_pass_ends_the_watch(front: Front, refusal: Exception) -> None:
    gateway, run = await front.start_run()
    front.board.told = [[refusal]]
    with pytest.raises(type(refusal)):
        await states(gateway.watch(run, 0.5))


async def test_an_aggregator_that_is_away_from_the_beginning_is_told(front: Front) -> None:
    gateway, run = await front.start_run()

    async def down(_: str) -> None:
        raise DOWN

    front.board.scores = down  # type: ignore[method-assign]
    with pytest.raises(BackendUnavailable):
        await states(gateway.watch(run, 0.5))


async def test_all_who_watch_a_run_share_one_watch_of_the_aggregator(front: Front) -> None:
    gateway, run = await front.start_run()
    front.board.told = [[scores("running", each) for each in range(1, 9)]]
    watching = [gateway.watch(run, 0.5) for _ in range(400)]
    for each in watching:
        await anext(each)
    for each in watching:
        await anext(each)
    assert front.board.watching == 1
    for each in watching:
        await each.aclose()
    assert front.board.watching == 0


async def test_a_slow_watcher_holds_nobody_up_and_keeps_nothing(front: Front) -> None:
    gateway, run = await front.start_run()
    whole = [scores("running", known) for known in range(1, 10)] + [scores("complete", 10)]
    front.board.told = [whole, whole, whole[-1:]]
    slow = gateway.watch(run, 0.5)
    first = await anext(slow)
    second = await anext(slow)
    quick = await states(gateway.watch(run, 0.5))
    rest = await states(slow)
    assert [seen(first), seen(second), *rest] == [
        ("running", 1), ("running", 2), ("complete", 10)
    ]  # fmt: skip
    assert len(quick) > 3


async def test_nothing_is_relayed_to_who_has_left(front: Front) -> None:
    gateway, run = await front.start_run()
    front.board.told = [[scores("running", known) for known in range(1, 1000)]]
    watched = gateway.watch(run, 0.5)
    for _ in range(3):
        await anext(watched)
    assert front.board.watching == 1
    await watched.aclose()
    assert front.board.watching == 0


async def test_a_store_that_is_away_is_no_news(front: Front) -> None:
    gateway, run = await front.start_run()
    front.board.told = [[scores("running", 2), scores("complete", 10)]]
    watched = gateway.watch(run, 0.5)
    await anext(watched)
    get, left = front.store.get, 3

    async def shaky(key: str, most: int | None = None) -> bytes | None:
        nonlocal left
        left -= 1
        if left >= 0:
            raise StoreUnavailable("down")
        return await get(key, most)

    front.store.get = shaky  # type: ignore[method-assign]
    assert (await states(watched))[-1] == ("complete", 10)
    assert left < 0


@pytest.mark.parametrize("ended", ["failed", "cancelled", "finished"])
async def test_a_run_that_is_started_again_is_planning_at_once(front: Front, ended: str) -> None:
    gateway, run = await front.start_run()
    front.board.now = scores(ended, 4, error="the model is another one")
    assert (await gateway.get(run)).state == ended or ended == "cancelled"
    again, created = await gateway.start(front.asked)
    assert (again.state, created) == (RunState.PLANNING, False)
    found = await gateway.get(run)
    assert (found.state, found.error, found.benchmarks) == (RunState.PLANNING, "", ())
    front.board.told = [
        [scores(ended, 4)],
        [scores(ended, 4)],
        [scores("running", 4, 2), scores("failed", 5, 2, "once more")],
    ]
    assert await states(gateway.watch(run, 0.5)) == [
        ("planning", 0), ("running", 4), ("failed", 5)
    ]  # fmt: skip
    assert (await gateway.get(run)).error == "once more"


async def test_how_a_run_ended_before_is_not_listed(front: Front) -> None:
    gateway, run = await front.start_run()
    kept = run_store(front.store, run)

    async def listed(end: bytes) -> tuple[str, str]:
        await kept.put("end.json", end)
        (found,) = (await gateway.list()).evaluations
        return str(found.state), found.error

    failed = b'{"schema": 1, "state": "failed", "error": "why", "start": 1}'
    assert await listed(failed) == ("failed", "why")
    await gateway.start(front.asked)
    assert await listed(failed) == ("planning", "")
    assert await listed(failed.replace(b'"start": 1', b'"start": 2')) == ("failed", "why")
    for state, expected in (("complete", "planning"), ("decided", "decided")):
        assert (await listed(failed.replace(b"failed", state.encode())))[0] == expected


async def test_what_could_not_be_planned_is_tried_again(front: Front) -> None:
    gateway, run = await front.start_run()
    await refuse(run_store(front.store, run), "no such captions")
    front.board.now = scores("planning")
    front.board.told = [[scores("planning")]]
    assert await states(gateway.watch(run, 0.5)) == [("failed", 0)]
    await gateway.start(front.asked)
    assert (await gateway.get(run)).state is RunState.PLANNING


async def test_a_run_that_is_refused_meanwhile_ends_its_watchers(front: Front) -> None:
    gateway, run = await front.start_run()
    front.board.now = scores("planning")
    front.board.told = [[scores("planning")]]
    watched = gateway.watch(run, 0.5)
    assert seen(await anext(watched)) == ("planning", 0)
    await refuse(run_store(front.store, run), "no such captions")
    assert await states(watched) == [("failed", 0)]
