import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from fractions import Fraction
from pathlib import Path

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.datasets import push_dataset
from tests.fakes.full_storage import longest_file
from tests.fakes.runs import part, spec
from tests.fakes.stores import MemoryLog, MemoryStore, supplies

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.errors import InvalidInput, NotFound, StoreFull
from caliper.core.keys import canonical_json
from caliper.core.messages import PlanJob, PlanMade
from caliper.core.outcome import Scored, Verdict
from caliper.core.run import RunSpec
from caliper.local.submission import parcel_at
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.planning.job_queue import read_queue
from caliper.pipeline.planning.planner import Planner, Resumption
from caliper.pipeline.planning.publisher import QA_JOBS, RUNS
from caliper.pipeline.store.plan import read_summary
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import STARTED, refusal_of, run_store, write_json
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.pipeline.store.supplies import put_captions
from caliper.ports.storage import Sources

QUESTIONS = Path(__file__).resolve().parents[3] / "examples" / "captionqa" / "questions.json"
JOBS = 23
CODEC = ProtobufCodec()


@pytest.fixture
def stream() -> MemoryStream:
    return MemoryStream(logs=(RUNS,))


@pytest.fixture
def planner(store: MemoryStore, stream: MemoryStream) -> Planner:
    return Planner(store, stream, CODEC, RunBook(store, FakeClock()), supplies(store))


async def stored(store: MemoryStore, *, captions: str | None = None) -> RunSpec:
    parcel = parcel_at("captionqa", QUESTIONS, None)
    await push_dataset(store, parcel)
    known = captions or await put_captions(store, {"nat_000": "A dog."})
    found = spec(part(data=parcel.digest, captions=known))
    kept = run_store(store, found.run_id)
    await kept.put("spec.json", canonical_json(found.to_json()))
    await note(store, found.run_id, 1)
    return found


async def note(store: MemoryStore, run: str, starts: int) -> None:
    """Note this many starts of a run."""
    own = run_store(store, run)
    await write_json(own, STARTED, started="2026-01-01T00:00:00+00:00", starts=starts)


async def told(stream: MemoryStream) -> list[object]:
    ends = await stream.ends(RUNS)
    records = stream.read(RUNS, {})
    return [
        CODEC.read_run_event((await anext(records)).message.value) for _ in range(ends.get(0, 0))
    ]


async def test_a_plan_says_which_start_it_answers(
    planner: Planner, store: MemoryStore, stream: MemoryStream
) -> None:
    run = (await stored(store)).run_id
    await planner.plan(PlanJob(run))
    await note(store, run, 3)
    # Delivered twice, too.
    for _ in range(2):
        await planner.plan(PlanJob(run))
    made = [event for event in await told(stream) if isinstance(event, PlanMade)]
    assert [(event.run, event.start, event.shards) for event in made] == [
        (run, 1, 1), (run, 3, 1), (run, 3, 1)
    ]  # fmt: skip
    own = run_store(store, run)
    first, third = [await read_queue(own, start, 0) for start in (1, 3)]
    assert first == third
    assert [job.message.topic for job in first] == JOBS * [QA_JOBS]


class StartedMeanwhile(StoredSupplies):
    """Supplies in `store` of a run that is started for the second time while it is planned."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store, DatasetFiles)
        self.store = store

    @asynccontextmanager
    async def sources(self, spec: RunSpec) -> AsyncIterator[Mapping[str, Sources]]:
        async with super().sources(spec) as found:
            await note(self.store, spec.run_id, 2)
            yield found


async def test_of_starts_at_once_the_last_is_answered(
    store: MemoryStore, stream: MemoryStream
) -> None:
    run = (await stored(store)).run_id
    book = RunBook(store, FakeClock())
    planner = Planner(store, stream, CODEC, book, StartedMeanwhile(store))
    await asyncio.gather(*(planner.plan(PlanJob(run)) for _ in range(2)))
    assert {event.start for event in await told(stream) if isinstance(event, PlanMade)} == {2}
    assert len(await read_queue(run_store(store, run), 2, 0)) == JOBS


async def test_a_plan_that_succeeds_after_all_is_no_refusal(
    planner: Planner, store: MemoryStore
) -> None:
    texts = {"nat_000": "A dog."}
    run = (await stored(store, captions=await put_captions(MemoryStore(), texts))).run_id
    await planner.plan(PlanJob(run))
    kept = run_store(store, run)
    assert "no such captions" in await refusal_of(kept)
    await put_captions(store, texts)
    await planner.plan(PlanJob(run))
    assert await refusal_of(kept) == ""


async def test_a_plan_that_meets_a_full_temporary_disk_is_waited_for(
    planner: Planner, store: MemoryStore
) -> None:
    # More text than SQLite keeps in memory, in an archive of a few kilobytes.
    captions = await put_captions(store, {"nat_000": "A dog. " * 1_000_000})
    run = (await stored(store, captions=captions)).run_id
    with longest_file(1 << 17), pytest.raises(StoreFull, match="no room for temporary files"):
        await planner.plan(PlanJob(run))
    assert await refusal_of(run_store(store, run)) == ""
    assert not isinstance(await planner.plan(PlanJob(run)), InvalidInput)


async def test_a_plan_job_that_is_put_aside_fails_its_run(
    planner: Planner, store: MemoryStore
) -> None:
    run = (await stored(store)).run_id
    await planner.give_up(PlanJob(run), ValueError("our bug"))
    assert await refusal_of(run_store(store, run)) == "ValueError: our bug"
    await planner.plan(PlanJob(run))
    assert await refusal_of(run_store(store, run)) == ""


async def test_a_plan_job_of_nobody_leaves_nothing(planner: Planner, store: MemoryStore) -> None:
    await planner.give_up(PlanJob("0" * 16), ValueError("our bug"))
    with pytest.raises(NotFound):
        await planner.give_up(PlanJob("../x"), ValueError("our bug"))
    assert store.objects == {}


async def test_jobs_that_lack_nothing_are_not_published(
    store: MemoryStore, stream: MemoryStream
) -> None:
    run = (await stored(store)).run_id
    asked: list[tuple[str, int | None]] = []

    async def resume(run: str, end: int | None) -> Resumption:
        asked.append((run, end))
        summary = await read_summary(run_store(store, run))
        assert summary is not None
        known = Ledger(summary.questions, MemoryLog())
        known.merge([Verdict(index, Scored(Fraction(1))) for index in range(1, summary.questions)])
        return Resumption(known)

    book = RunBook(store, FakeClock())
    planner = Planner(store, stream, CODEC, book, supplies(store), resume)
    await planner.plan(PlanJob(run))
    await stream.close_topic(QA_JOBS)
    consumer, jobs = stream.consumer(QA_JOBS, "test"), []
    while (delivery := await consumer.receive()) is not None:
        value = delivery.message.value
        assert isinstance(value, bytes)
        jobs.append(CODEC.read_examine_job(value))
        await consumer.acknowledge(delivery)
    assert [job.items[0].first for job in jobs] == [0]
    assert asked == [(run, None)]
