"""Sources that are lost while they are evaluated, and the markers beside them."""

import asyncio
import json

import pytest
from tests.fakes.suite_loops import Surroundings
from tests.fakes.suites import checkpoint, suite

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.errors import StoreUnavailable
from caliper.pipeline.aggregation.lease import TERM, Lease
from caliper.pipeline.suites.source_leases import SourceLeases

PLACE = "/checkpoints/step-1"


class FakeSources:
    """ports.sources.CheckpointSources. `lost` says why what is there is another checkpoint."""

    def __init__(self) -> None:
        self.there, self.lost = "first", ""
        self.away, self.looks = False, 0
        self.markers: dict[tuple[str, str], str] = {}

    async def signature(self, _: CheckpointRevision) -> str | None:
        self._reach()
        self.looks += 1
        return self.there

    async def loss(self, _: CheckpointRevision) -> str:
        self._reach()
        return self.lost

    async def mark(self, source: str, suite: str, text: str) -> None:
        self._reach()
        self.markers[source, suite] = text

    async def unmark(self, source: str, suite: str) -> None:
        self._reach()
        self.markers.pop((source, suite), None)

    def _reach(self) -> None:
        if self.away:
            raise StoreUnavailable("bucket away")


@pytest.fixture
def sources(around: Surroundings) -> FakeSources:
    found, warnings = FakeSources(), list[str]()
    around.sources = SourceLeases(around.store, around.clock, found, warnings.append)
    around.evaluator.hold = asyncio.Event()
    return found


async def evaluating(around: Surroundings) -> asyncio.Task[None]:
    """A loop that evaluates step 1 for as long as the evaluator is held."""
    await around.applied()
    around.arriving = [checkpoint(1)]
    loop = asyncio.create_task(around.once())
    await around.evaluator.began.wait()
    return loop


async def looked(sources: FakeSources, times: int) -> None:
    seen = sources.looks
    while sources.looks < seen + times:  # noqa: ASYNC110 - a fake tells nobody
        await asyncio.sleep(0)


async def test_a_source_that_is_lost_ends_its_evaluation(
    around: Surroundings, sources: FakeSources
) -> None:
    loop = await evaluating(around)
    await looked(sources, 2)
    sources.there, sources.lost = "", f"{PLACE} no longer exists"
    await loop
    (entry,) = await around.entries()
    assert (entry.state, entry.reason) == (EntryState.SOURCE_GONE, sources.lost)
    assert around.evaluator.abandoned == ["step-1"]
    assert around.evaluator.evaluated == []
    assert around.events[-1] == ("step-1", "source-gone")
    assert sources.markers == {}


async def test_one_that_only_looks_otherwise_goes_on(
    around: Surroundings, sources: FakeSources
) -> None:
    loop = await evaluating(around)
    for there in ("touched", "first"):
        sources.there = there
        await looked(sources, 2)
    sources.away, hold = True, around.evaluator.hold
    await asyncio.sleep(0)
    sources.away = False
    assert hold is not None
    hold.set()
    await loop
    assert await around.states() == {"step-1": EntryState.EVALUATED}


async def test_a_marker_is_beside_what_is_evaluated_and_renewed(
    around: Surroundings, sources: FakeSources
) -> None:
    loop = await evaluating(around)
    await looked(sources, 1)
    first = json.loads(sources.markers[PLACE, "nightly"])
    assert (first["suite"], first["revision"]) == ("nightly", "rev1")
    await looked(sources, 12)
    assert json.loads(sources.markers[PLACE, "nightly"])["seen"] > first["seen"]
    assert around.evaluator.hold is not None
    around.evaluator.hold.set()
    await loop
    assert sources.markers == {}
    assert not [key for key in around.store.objects if "/markers/" in key]


@pytest.mark.parametrize("cause", [EntryCause.SKIP, None])
async def test_the_marker_of_a_loop_that_crashed_is_removed(
    around: Surroundings, sources: FakeSources, cause: EntryCause | None
) -> None:
    """Whether its entry is skipped meanwhile, or its suite evaluates no more."""
    await around.applied()
    await around.registry.register(suite(), checkpoint(1))
    (stored,), _ = await around.registry.entries("nightly")
    lease = Lease(around.store, around.clock, stored.lease_key)
    assert await lease.is_free()
    assert await lease.take()
    claimed = await around.registry.move(stored, EntryCause.CLAIM)
    assert claimed is not None
    assert around.sources is not None
    crashed = around.sources.marked(claimed.entry)
    await crashed.__aenter__()
    if cause is not None:
        await around.registry.change_entry(stored.key, cause)
    tidy = SourceLeases(around.store, around.clock, sources, lambda _: None)
    await tidy.tidy("nightly")
    assert sources.markers
    around.clock.seconds += TERM
    sources.away = True
    await tidy.tidy("nightly")
    sources.away = False
    await tidy.tidy("nightly")
    assert sources.markers == {}
    assert not [key for key in around.store.objects if "/markers/" in key]


async def test_a_source_may_go_once_nothing_serves_it(
    around: Surroundings, sources: FakeSources
) -> None:
    loop = await evaluating(around)
    await looked(sources, 1)
    marked: list[bool] = []
    hold = around.evaluator.hold
    assert hold is not None

    async def served() -> bool:
        try:
            return await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            marked.append(bool(sources.markers))

    hold.wait = served  # type: ignore[method-assign, assignment]
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    around.evaluator.began.clear()
    again = asyncio.create_task(around.once())
    await around.evaluator.began.wait()
    await looked(sources, 1)
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)
    assert marked == [True]
    assert sources.markers == {}
