"""One suite for everything that has the datasets and captions of runs."""

import json
from pathlib import Path

import pytest
from tests.fakes.datasets import push_dataset
from tests.fakes.runs import part, spec
from tests.fakes.stores import MemoryStore, supplies

from caliper.adapters.datasets.files import DatasetFiles
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import DataLoss
from caliper.core.keys import digest
from caliper.core.run import RunSpec
from caliper.local.submission import parcel_at
from caliper.local.supplies import FileSupplies
from caliper.pipeline.store.supplies import put_captions
from caliper.ports.storage import Sources, Supplies

QUESTIONS = Path(__file__).resolve().parents[2] / "examples" / "captionqa" / "questions.json"
LAYOUT = benchmark("captionqa").data
TEXTS = {"nat_000": "A dog.", "nat_001": "Two red chairs."}


class SuppliesContract:
    @pytest.fixture
    async def held(self) -> tuple[Supplies, RunSpec]:
        raise NotImplementedError

    async def test_what_is_there_goes_by_its_digest(self, held: tuple[Supplies, RunSpec]) -> None:
        found, run = held
        (ours,) = run.benchmarks
        assert await found.has_dataset(ours.data)
        assert await found.has_captions(ours.captions or "")
        assert not await found.has_dataset("0" * 64)
        assert not await found.has_captions("0" * 64)

    async def test_planning_reads_rows_and_captions(self, held: tuple[Supplies, RunSpec]) -> None:
        found, run = held
        async with found.sources(run) as sources:
            rows = list(sources["captionqa"].data.rows(LAYOUT))
        expected = list(DatasetFiles(QUESTIONS).rows(LAYOUT))
        assert [row.fields for row in rows] == [row.fields for row in expected]
        # Captions are read after the rows, too.
        assert dict(sources["captionqa"].captions or {}) == TEXTS
        assert sources["captionqa"].qa_data is None


class TestStoredSupplies(SuppliesContract):
    @pytest.fixture
    async def held(self) -> tuple[Supplies, RunSpec]:
        store, parcel = MemoryStore(), parcel_at("captionqa", QUESTIONS, None)
        await push_dataset(store, parcel)
        captions = await put_captions(store, TEXTS)
        return supplies(store), spec(part(data=parcel.digest, captions=captions))

    async def test_its_size_is_that_of_the_files(self, held: tuple[Supplies, RunSpec]) -> None:
        found, run = held
        async with found.sources(run) as sources:
            assert sources["captionqa"].size == QUESTIONS.stat().st_size


async def test_a_dataset_that_was_cut_in_the_store_is_not_planned() -> None:
    store, parcel = MemoryStore(), parcel_at("captionqa", QUESTIONS, None)
    await push_dataset(store, parcel)
    (key,) = [each for each in store.objects if "/files/" in each]
    rows = json.loads(store.objects[key])
    store.objects[key] = json.dumps(rows[:1]).encode()
    run = spec(part(data=parcel.digest, captions=await put_captions(store, TEXTS)))
    with pytest.raises(DataLoss, match=f"datasets/{parcel.digest}: not the files"):
        async with supplies(store).sources(run):
            pass


class TestFileSupplies(SuppliesContract):
    @pytest.fixture
    async def held(self) -> tuple[Supplies, RunSpec]:
        data = DatasetFiles(QUESTIONS)
        ours = part(data=data.digest(LAYOUT), captions=digest(TEXTS))
        found = FileSupplies({"captionqa": Sources(data, TEXTS)}, {ours.data, digest(TEXTS)})
        return found, spec(ours)
