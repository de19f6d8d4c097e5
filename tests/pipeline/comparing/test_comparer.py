import asyncio
import gzip
from collections.abc import AsyncIterator, Iterable, Mapping

import pytest
from tests.fakes import runs
from tests.fakes.clock import PATIENCE, FakeClock
from tests.fakes.evaluations import (
    CAPTIONS,
    House,
    cancel,
    messages_of,
    stored_run,
    verdict,
)
from tests.fakes.runs import Planned
from tests.fakes.stores import Gate, MemoryStore
from tests.fakes.stuffed_captions import stuffed

from caliper.core.errors import DataLoss, InvalidInput, NotComparable, NotFound, NotReady
from caliper.core.report import Coverage
from caliper.core.run import BenchmarkSpec, RunState
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.comparing.comparison import MOST_CANDIDATES, ComparisonRequest
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import (
    END,
    STARTED,
    read_replaceable,
    refuse,
    run_store,
    write_json,
)
from caliper.pipeline.store.supplies import put_captions

ALL = range(6)
NOBODY = "0" * 16


@pytest.fixture
async def comparer(store: MemoryStore) -> AsyncIterator[Comparer]:
    found = Comparer(
        store, RunBook(store, FakeClock()), lambda _: lambda name, path: f"{name} {path}".encode()
    )
    yield found
    await found.close()


async def started(
    store: MemoryStore, name: str, *parts: BenchmarkSpec, **changes: object
) -> Planned:
    run = await stored_run(store, name, *parts, **changes)
    await write_json(run_store(store, run.spec.run_id), STARTED, started="2026-01-01", starts=1)
    return run


async def ran(
    store: MemoryStore,
    name: str,
    scores: Iterable[int | None],
    captions: Mapping[str, str] = CAPTIONS["captionqa"],
    **changes: object,
) -> Planned:
    """A run with these scores of its six questions, that has ended if there are so many."""
    digest = await put_captions(store, captions)
    part = runs.part(captions=digest)
    run = await started(store, name, part, **changes)
    house = House(store)
    aggregator = await house.aggregator()
    told = [verdict(index, score, f"{name} {index}") for index, score in enumerate(scores)]
    await aggregator.apply(messages_of(run, told))
    await aggregator.snapshot()
    await aggregator.conclude()
    return run


async def test_questions_are_paired_and_the_largest_changes_are_told(
    store: MemoryStore, comparer: Comparer
) -> None:
    base = await ran(store, "base", [1, 1, 0, 0, 1, None])
    other = await ran(store, "other", [1, 0, 1, 0, None, 1])
    wished = ComparisonRequest(partial=True, flips=10)
    ids = [base.spec.run_id, other.spec.run_id]
    found, pictures = await comparer.compare(ids, wished, pictures=True)
    assert (found.base.run, found.base.name, found.base.state) == (ids[0], "base", "finished")
    assert found.base.coverage == {"captionqa": Coverage(6, 5, {"timeout": 1})}
    (candidate,) = found.candidates
    flips = candidate.flips
    assert (flips.better, flips.worse, flips.same, flips.unpaired) == (1, 1, 2, 2)
    assert [(flip.before.reply, flip.after.reply) for flip in flips.listed] == [
        ("base 1", "other 1"),
        ("base 2", "other 2"),
    ]
    texts = [*CAPTIONS["captionqa"].values()]
    assert [flip.captions for flip in flips.listed] == [(text, text) for text in texts]
    assert pictures == {
        ("captionqa", path): f"captionqa {path}".encode() for path in ("0.jpg", "1.jpg")
    }
    (part,) = candidate.parts
    assert next(iter(part.figures)) == part.headline
    assert all(path in part.figures for _, path in part.rows)


async def test_a_run_whose_captions_list_everything_is_marked(
    store: MemoryStore, comparer: Comparer
) -> None:
    honest = CAPTIONS["captionqa"]
    ids = [
        (await ran(store, name, [1] * 6, captions)).spec.run_id
        for name, captions in (
            ("honest", honest),
            ("all", dict.fromkeys(honest, stuffed())),
            ("half", {**honest, "nat_000": stuffed()}),
        )
    ]
    found, _ = await comparer.compare(ids, ComparisonRequest(flips=0))
    assert [side.stuffed for side in found.sides] == [{}, {"captionqa": 1.0}, {"captionqa": 0.5}]


async def test_captions_are_read_once_a_run(store: MemoryStore, comparer: Comparer) -> None:
    ids = [
        (await ran(store, name, scores)).spec.run_id
        for name, scores in (("base", [0] * 6), ("other", [1, 1, 1, 1, 0, 0]))
    ]
    store.calls.clear()
    found, pictures = await comparer.compare(ids, ComparisonRequest(flips=0))
    flips = found.candidates[0].flips
    assert (flips.better, flips.worse, flips.same, flips.listed, pictures) == (4, 0, 2, (), {})
    found, _ = await comparer.compare(ids, ComparisonRequest(flips=3))
    assert [flip.after.index for flip in found.candidates[0].flips.listed] == [0, 1, 2]
    store.calls.clear()
    await comparer.compare([*ids, ids[1]], ComparisonRequest())
    assert sum(key.startswith("supplied/") for key in store.read) == 3


async def test_several_candidates_come_in_their_order(
    store: MemoryStore, comparer: Comparer
) -> None:
    every = [
        (await ran(store, name, scores)).spec.run_id
        for name, scores in (("base", [0, 1] * 3), ("worse", [0] * 6), ("better", [1] * 6))
    ]
    found, _ = await comparer.compare(every, ComparisonRequest())
    assert [candidate.side.name for candidate in found.candidates] == ["worse", "better"]
    back, _ = await comparer.compare([every[0], *every[:0:-1]], ComparisonRequest())
    assert back.candidates == found.candidates[::-1]
    # With a second candidate a p-value counts for less, and nothing else is another.
    alone, _ = await comparer.compare(every[:2], ComparisonRequest())
    for path, one in alone.candidates[0].parts[0].figures.items():
        both = found.candidates[0].parts[0].figures[path]
        assert (both.value, both.low, both.p) == (one.value, one.low, one.p)
        assert (both.adjusted or 0) >= (one.adjusted or 0)


async def test_runs_that_go_on_only_as_partial(store: MemoryStore, comparer: Comparer) -> None:
    ended = await ran(store, "ended", [1] * 6)
    going = await ran(store, "going", [0, 0])
    ids = [ended.spec.run_id, going.spec.run_id]
    for order in (ids, ids[::-1]):
        with pytest.raises(NotReady, match=f"{ids[1]} .going. is running"):
            await comparer.compare(order, ComparisonRequest())
    found, _ = await comparer.compare(ids, ComparisonRequest(partial=True))
    (candidate,) = found.candidates
    assert candidate.side.state is RunState.RUNNING
    assert (candidate.flips.worse, candidate.flips.unpaired) == (2, 4)


async def test_a_run_that_was_started_again_goes_on(store: MemoryStore, comparer: Comparer) -> None:
    ended = await ran(store, "ended", [1] * 6)
    again = await ran(store, "again", [1] * 5 + [None])
    ids = [ended.spec.run_id, again.spec.run_id]
    found, _ = await comparer.compare(ids, ComparisonRequest(partial=True))
    assert found.candidates[0].side.state is RunState.FINISHED
    await write_json(run_store(store, ids[1]), STARTED, started="2026-01-01", starts=2)
    with pytest.raises(NotReady, match="is running"):
        await comparer.compare(ids, ComparisonRequest())
    await refuse(run_store(store, ids[1]), "no rows")
    with pytest.raises(NotReady, match="is failed"):
        await comparer.compare(ids, ComparisonRequest())


async def test_a_complete_run_that_lost_verdicts_is_not_complete(
    store: MemoryStore, comparer: Comparer
) -> None:
    ids = [(await ran(store, name, [1] * 6)).spec.run_id for name in ("whole", "lost")]
    (segment,) = [key async for key in store.list(f"runs/{ids[1]}/verdicts/")]
    lines = gzip.decompress(store.objects[segment]).splitlines(keepends=True)
    store.objects[segment] = gzip.compress(b"".join(lines[:2]))
    with pytest.raises(
        DataLoss, match=f"{segment}: broken segment: not the lines that were written"
    ):
        await comparer.compare(ids, ComparisonRequest())
    # The end of an earlier release.
    own = run_store(store, ids[1])
    await write_json(own, END, **{**await read_replaceable(own, END), "segment_digests": {}})
    with pytest.raises(NotReady, match=r"lost. is running, not complete .coverage 33\.3%"):
        await comparer.compare(ids, ComparisonRequest())


async def test_a_cancelled_run_has_ended_and_says_so(
    store: MemoryStore, comparer: Comparer
) -> None:
    ended = await ran(store, "ended", [1] * 6)
    run = await started(store, "cancelled", *ended.spec.benchmarks)
    house = House(store)
    aggregator = await house.aggregator()
    await aggregator.apply(messages_of(run, [verdict(0, 0)]))
    await cancel(house, run, aggregator)
    await aggregator.snapshot()
    house.clock.seconds += 600
    await aggregator.conclude()
    ids = [ended.spec.run_id, run.spec.run_id]
    with pytest.raises(NotReady, match=r"is cancelled, not complete .coverage 16\.7%"):
        await comparer.compare(ids, ComparisonRequest())
    found, _ = await comparer.compare(ids, ComparisonRequest(partial=True))
    assert found.candidates[0].side.state is RunState.CANCELLED


async def test_a_run_under_the_coverage_floor_only_as_partial(
    store: MemoryStore, comparer: Comparer
) -> None:
    complete = (await ran(store, "complete", [1] * 6)).spec.run_id
    finished = (await ran(store, "finished", [1] * 5 + [None])).spec.run_id
    for order in ([complete, finished], [finished, complete]):
        with pytest.raises(NotReady, match=f"{finished} .finished. is finished, not complete"):
            await comparer.compare(order, ComparisonRequest())
        found, _ = await comparer.compare(order, ComparisonRequest(partial=True))
        assert {side.share for side in found.sides} == {1.0, 5 / 6}


async def test_what_cannot_be_compared(store: MemoryStore, comparer: Comparer) -> None:
    base = (await ran(store, "base", [1] * 6)).spec.run_id
    other = (await ran(store, "other", [1] * 6, seed=7)).spec.run_id
    unplanned = runs.spec(name="unplanned")
    await run_store(store, unplanned.run_id).put("spec.json", b"{}")
    for ids, wished, kind, told in (
        ([base], ComparisonRequest(), InvalidInput, "runs: a base and 1 to 20"),
        ([], ComparisonRequest(), InvalidInput, "runs: a base and 1 to 20"),
        (
            [base] * (MOST_CANDIDATES + 2),
            ComparisonRequest(),
            InvalidInput,
            "runs: 20 candidates at most",
        ),
        ([base, base], ComparisonRequest(flips=501), InvalidInput, "flips: 0 to 500"),
        ([base, NOBODY], ComparisonRequest(), NotFound, NOBODY),
        ([base, other], ComparisonRequest(), NotComparable, "spec seed: 0 / 7"),
    ):
        with pytest.raises(kind, match=told):
            await comparer.compare(ids, wished)
    found, _ = await comparer.compare([base, other], ComparisonRequest(anyway=True))
    assert [each.name for each in found.candidates[0].setup_differences] == ["seed"]


async def test_unlike_runs_are_refused_before_a_verdict_is_read(
    store: MemoryStore, comparer: Comparer
) -> None:
    ids = [(await ran(store, "base", [1] * 6, seed=seed)).spec.run_id for seed in (0, 1)]
    store.calls.clear()
    with pytest.raises(NotComparable):
        await comparer.compare(ids, ComparisonRequest())
    assert {key.rpartition("/")[2] for key in store.read} == {"spec.json"}


async def test_a_caller_that_leaves_holds_nobody_up(store: MemoryStore, comparer: Comparer) -> None:
    ids = [(await ran(store, name, [1] * 6)).spec.run_id for name in ("a", "b")]
    store.before = gate = Gate("get", f"runs/{ids[1]}/verdicts/")
    async with asyncio.timeout(PATIENCE):
        left = asyncio.create_task(comparer.compare(ids, ComparisonRequest()))
        await gate.reached.wait()
        waiting = asyncio.create_task(comparer.compare(ids[:1] * 2, ComparisonRequest()))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.wait([left])
        gate.opened.set()
        found, _ = await waiting
    assert left.cancelled()
    assert found.candidates[0].flips.same == 6
