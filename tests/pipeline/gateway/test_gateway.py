"""Ending runs early, by what the store says alone."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from tests.fakes.boards import Board, Front, scores
from tests.fakes.clock import PATIENCE

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message
from caliper.core.errors import BackendUnavailable, NotFound, StreamUnavailable
from caliper.core.run import RunState
from caliper.core.terms import Terms
from caliper.pipeline.gateway.gateway import Page
from caliper.pipeline.planning.publisher import PLAN_JOBS
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.runs import is_cancelled, refuse, run_store, write_json
from caliper.ports.stages import Scores


class Away(Board):
    async def scores(self, _: str) -> Scores | None:
        raise BackendUnavailable("the aggregator is away")

    async def watch(self, _: str, __: float) -> AsyncGenerator[Scores, None]:
        raise BackendUnavailable("the aggregator is away")
        yield


class OnlyPlanJobs(MemoryStream):
    """The broker went away once the run had been started."""

    async def publish(self, message: Message) -> None:
        if message.topic != PLAN_JOBS:
            raise StreamUnavailable(f"nothing could be published to {message.topic}")
        await super().publish(message)


@pytest.fixture
def front() -> Front:
    return Front(board=Away(), stream=OnlyPlanJobs())


async def cancelled(front: Front, run: str) -> bool:
    return await is_cancelled(run_store(front.store, run))


@pytest.mark.parametrize("planned", [True, False])
async def test_cancelling_needs_the_store_only(front: Front, planned: bool) -> None:
    gateway = await front.gateway()
    begun, _ = await gateway.start(front.asked)
    run = begun.spec.run_id
    if planned:
        await run_store(front.store, run).put(SUMMARY, b"{}")
    found = await gateway.cancel(run)
    state = RunState.CANCELLING if planned else RunState.CANCELLED
    assert (found.spec, found.state) == (begun.spec, state)
    assert (found.started, found.benchmarks) == (begun.started, ())
    assert await cancelled(front, run)
    (listed,) = (await gateway.list()).evaluations
    assert listed.state is state


async def test_a_page_costs_no_more_than_the_largest(front: Front) -> None:
    gateway = await front.gateway()
    begun, _ = await gateway.start(front.asked)
    for place in range(600):
        await write_json(front.store, f"run-index/{place:015}-{begun.spec.run_id}.json")
    first = await gateway.list(name="somebody else")
    assert first.evaluations == ()
    assert first.next == f"run-index/{499:015}-{begun.spec.run_id}.json"
    assert await gateway.list(token=first.next, name="somebody else") == Page((), "")


@pytest.mark.parametrize("name", ["spec.json", "end.json"])
async def test_a_run_of_a_newer_release_hides_no_other(front: Front, name: str) -> None:
    first, _ = await (await front.gateway()).start(front.asked)
    run = first.spec.run_id
    await write_json(front.store, f"run-index/{0:015}-{run}.json")
    front.store.objects[f"runs/{run}/{name}"] = b'{"schema": 999}'
    assert await (await front.gateway()).list() == Page((), "")


class Hanging(MemoryStream):
    """A broker that does not answer once it is told to hang."""

    def __init__(self) -> None:
        super().__init__()
        self.hangs, self.asked = False, asyncio.Event()

    async def publish(self, message: Message) -> None:
        if self.hangs:
            self.asked.set()
            await asyncio.Event().wait()
        await super().publish(message)


async def test_nobody_who_cancels_waits_for_starts(front: Front) -> None:
    front.stream = stream = Hanging()
    gateway, run = await front.start_run()
    stream.hangs = True
    starting = asyncio.create_task(gateway.start(replace(front.asked, name="another")))
    await stream.asked.wait()
    async with asyncio.timeout(PATIENCE):
        await gateway.cancel(run)
    assert await cancelled(front, run)
    starting.cancel()


async def test_a_start_whose_caller_leaves_undoes_no_later_cancellation(front: Front) -> None:
    gateway, run = await front.start_run()
    spec, put = await gateway.runs.spec(run), front.store.put
    writing, go_on, done = (asyncio.Event() for _ in range(3))

    async def written(key: str, data: bytes | Path) -> None:
        writing.set()
        await go_on.wait()
        await put(key, data)
        done.set()

    async def slow(key: str, data: bytes | Path) -> None:
        if key.endswith("/cancelled.json") and not writing.is_set():
            # As in a thread: it goes on whoever leaves.
            await asyncio.shield(asyncio.ensure_future(written(key, data)))
        else:
            await put(key, data)

    front.store.put = slow  # type: ignore[method-assign]
    starting = asyncio.create_task(gateway.begin(spec, Terms()))
    await writing.wait()
    starting.cancel()
    cancelling = asyncio.create_task(gateway.cancel(run))
    await asyncio.wait([starting])
    # Without the start's lock, this would be all that it needs.
    await asyncio.wait([cancelling], timeout=0.2)
    go_on.set()
    await done.wait()
    await cancelling
    assert await cancelled(front, run)


async def test_what_is_over_is_not_cancelled(front: Front) -> None:
    gateway = await front.gateway()
    begun, _ = await gateway.start(front.asked)
    run = begun.spec.run_id
    kept = run_store(front.store, run)
    ended = "2026-01-02T03:04:05+00:00"
    await write_json(kept, "end.json", state="complete", start=1, ended_at=ended)
    found = await gateway.cancel(run)
    assert (found.state, found.ended) == (RunState.COMPLETE, datetime.fromisoformat(ended))
    assert (await gateway.list()).evaluations == (found,)
    await refuse(kept, "no questions")
    found = await gateway.cancel(run)
    assert (found.state, found.error) == (RunState.FAILED, "no questions")
    assert not await cancelled(front, run)


@pytest.mark.parametrize(
    ("state", "reason", "then"),
    [
        ("complete", "unreadable", "complete"),
        ("complete", "timeout", "planning"),
        ("complete", "media_missing", "planning"),
        ("decided", "timeout", "decided"),
        ("finished", "unreadable", "planning"),
    ],
)
async def test_a_start_of_a_complete_run_retries_failures_that_may_be_transient(
    state: str, reason: str, then: str
) -> None:
    front = Front()
    gateway, run = await front.start_run()
    await write_json(run_store(front.store, run), "end.json", state=state, start=1)
    ended = scores(state, 9)
    (part,) = ended.benchmarks
    failing = replace(part, coverage=replace(part.coverage, unscored={reason: 1}))
    front.board.now = replace(ended, benchmarks=(failing,))
    again, created = await gateway.start(front.asked)
    assert (again.state, created) == (then, False)
    assert (await gateway.get(run)).state == then


async def test_nobody_is_not_cancelled(front: Front) -> None:
    with pytest.raises(NotFound):
        await (await front.gateway()).cancel("0" * 16)
