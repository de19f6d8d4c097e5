"""The registry of suites and checkpoints, on every object store."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import checkpoint, suite
from tests.servers.access import new_bucket

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.stores.minio import MinioStore
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import ENTRY_TRANSITIONS, OPEN_STATES, EntryCause, EntryState
from caliper.core.errors import DataLoss, InvalidInput, NotReady, UnknownName
from caliper.core.suites import SuiteCause, SuiteState
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry, find_entries
from caliper.ports.storage import ObjectStore


class RegistryContract:
    @pytest.fixture
    def registry(self, store: ObjectStore) -> SuiteRegistry:
        return SuiteRegistry(store, FakeClock())

    async def test_a_suite_is_applied_once_and_keeps_its_state(
        self, registry: SuiteRegistry
    ) -> None:
        assert (await registry.apply(suite()))[1]
        assert not (await registry.apply(suite()))[1]
        await registry.change("nightly", SuiteCause.PAUSE)
        record, is_new = await registry.apply(suite(version="b" * 16))
        assert is_new
        assert (record.state, record.suite.version) == (SuiteState.PAUSED, "b" * 16)
        assert await registry.record("nightly") == record
        assert await registry.names() == ["nightly"]
        with pytest.raises(UnknownName, match="'daily'; known: nightly"):
            await registry.record("daily")

    async def test_a_checkpoint_is_registered_once(self, registry: SuiteRegistry) -> None:
        arrivals = [registry.register(suite(), checkpoint(1)) for _ in range(8)]
        results = await asyncio.gather(*arrivals)
        assert sum(is_new for _, is_new in results) == 1
        stored, _ = await registry.entries("nightly")
        assert len(stored) == 1
        # Another version of the suite is another key.
        assert (await registry.register(suite(version="b" * 16), checkpoint(1)))[1]

    async def test_one_that_is_delivered_again_gains_tags_and_a_step(
        self, registry: SuiteRegistry
    ) -> None:
        first = checkpoint(None, revision="r", tags=("a",))
        await registry.register(suite(), first)
        await registry.register(suite(), checkpoint(7, revision="r", tags=("b",)))
        entry, is_new = await registry.register(suite(), checkpoint(9, revision="r"))
        assert (entry.checkpoint.step, entry.checkpoint.tags, is_new) == (7, ("a", "b"), False)

    async def test_entries_are_in_the_order_of_training(self, registry: SuiteRegistry) -> None:
        for step in (30, None, 4, 200):
            await registry.register(suite(), checkpoint(step))
        stored, _ = await registry.entries("nightly")
        assert [each.entry.checkpoint.step for each in stored] == [4, 30, 200, None]

    async def test_of_two_who_change_an_entry_one_does(self, registry: SuiteRegistry) -> None:
        await registry.register(suite(), checkpoint(1))
        (stored,), _ = await registry.entries("nightly")
        skipped = await registry.move(stored, EntryCause.SKIP, reason="unwanted")
        assert skipped is not None
        assert await registry.move(stored, EntryCause.CLAIM, crashes=1) is None
        with pytest.raises(NotReady, match=r"step-1 \(rev1\) is skipped and cannot be skipped"):
            await registry.change_entry(stored.key, EntryCause.SKIP)
        entry = await registry.change_entry(stored.key, EntryCause.RETRY)
        assert (entry.state, entry.reason) == (EntryState.REGISTERED, "")

    async def test_what_is_damaged_harms_only_itself(
        self, registry: SuiteRegistry, store: ObjectStore
    ) -> None:
        await registry.apply(suite())
        for step in (1, 2, 3):
            await registry.register(suite(), checkpoint(step))
        stored, _ = await registry.entries("nightly")
        for each, damage in zip(stored, (b"{", b'{"schema": 1}'), strict=False):
            await store.put(each.key, damage)
        left, unreadable = await registry.entries("nightly")
        assert [each.entry.checkpoint.step for each in left] == [3]
        assert [each.key for each in unreadable] == [each.key for each in stored[:2]]
        assert (await registry.register(suite(), checkpoint(1)))[1]
        assert len((await registry.entries("nightly"))[0]) == 2
        await store.put("suites/nightly/suite.json", b"")
        with pytest.raises(DataLoss, match=r"suites/nightly/suite\.json"):
            await registry.record("nightly")
        await registry.apply(suite())
        assert (await registry.record("nightly")).state is SuiteState.ACTIVE


class TestInMemory(RegistryContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()


class TestInADirectory(RegistryContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> DirectoryStore:
        return DirectoryStore(tmp_path)


class TestOnMinio(RegistryContract):
    @pytest.fixture
    async def store(self, minio: str) -> AsyncIterator[MinioStore]:
        async with new_bucket(minio) as store:
            yield store


def test_every_state_has_an_owner_and_a_way_on() -> None:
    left = {EntryState(state) for each in ENTRY_TRANSITIONS for state in each.before.split()}
    reached = {EntryState(each.after) for each in ENTRY_TRANSITIONS}
    assert left == set(EntryState)
    assert reached == set(EntryState)
    assert all(each.owner for each in ENTRY_TRANSITIONS)
    causes = [(each.cause, state) for each in ENTRY_TRANSITIONS for state in each.before.split()]
    assert len(causes) == len(set(causes))
    # Nothing but a person or a new delivery leads back from an end.
    back = {each.cause for each in ENTRY_TRANSITIONS if not OPEN_STATES & set(each.before.split())}
    assert back == {EntryCause.RETURN}


def test_an_entry_is_read_as_it_was_written() -> None:
    figure = EntryFigure("capability", "average.f1", 50.0, 40.0, 60.0)
    entry = CheckpointEntry("s", "v", checkpoint(1, tags=("a",)), "t", "t", figures=(figure,))
    assert CheckpointEntry.from_json({**entry.to_json(), "newer": 1}) == entry
    wrong = {"benchmark": "capability", "path": "average.f1", "value": "50"}
    for broken in (
        {"state": "odd"},
        {"checkpoint": 1},
        {"figures": [{}]},
        {"figures": [wrong]},
        {"since": 1},
    ):
        with pytest.raises(InvalidInput, match="not a checkpoint entry"):
            CheckpointEntry.from_json({**entry.to_json(), **broken})


@pytest.mark.parametrize("revision", ["", "a/b", "../x", ".hidden", "a b", "x" * 129])
def test_a_revision_that_is_no_key_is_refused(revision: str) -> None:
    with pytest.raises(InvalidInput, match="revision"):
        checkpoint(1, revision=revision)


def test_an_entry_is_found_by_name_or_the_start_of_its_revision() -> None:
    stored = [
        StoredEntry(CheckpointEntry("s", "v", checkpoint(step), "t", "t"), None) for step in (1, 10)
    ]
    assert [each.entry.checkpoint.step for each in find_entries(stored, "step-1")] == [1]
    assert [each.entry.checkpoint.step for each in find_entries(stored, "rev10")] == [10]
    with pytest.raises(InvalidInput, match="several checkpoints"):
        find_entries(stored, "rev")
    with pytest.raises(UnknownName):
        find_entries(stored, "other")


async def test_what_did_not_change_is_not_read_again() -> None:
    store = MemoryStore()
    registry, other = SuiteRegistry(store, FakeClock()), SuiteRegistry(store, FakeClock())
    for step in (1, 2):
        await other.register(suite(), checkpoint(step))
    first, _ = await registry.entries("nightly")
    store.calls.clear()
    assert (await registry.entries("nightly"))[0] == first
    assert store.read == []
    await other.change_entry(first[1].key, EntryCause.SKIP)
    store.calls.clear()
    stored, _ = await registry.entries("nightly")
    assert [each.entry.state for each in stored] == [EntryState.REGISTERED, EntryState.SKIPPED]
    assert [key.rpartition("/")[2] for key in store.read] == ["rev2.json"]
