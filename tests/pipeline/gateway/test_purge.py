"""Old runs are deleted as a whole, with the replies that no other run uses."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.installation import installation, over
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore
from tests.servers.access import new_bucket

from caliper.adapters.stores.minio import MinioStore
from caliper.core.errors import StoreUnavailable
from caliper.core.run import RunState
from caliper.core.terms import Terms
from caliper.local.config import read_config
from caliper.local.submission import send
from caliper.pipeline.gateway.purge import OldRun, Retention, delete_run, old_runs
from caliper.pipeline.ledger.stop_criterion import CRITERION, StopCriterion, write_criterion
from caliper.pipeline.store.runs import note_start, read_spec, run_store
from caliper.ports.storage import DeletableStore
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import QaReaderSettings

NOW = SystemClock().now() + timedelta(hours=3)
ALL, NEWEST = Retention(age=timedelta(0)), Retention(newest=1)


@dataclass
class Stored:
    """A store with two runs that are over, and a third that is not. Of the first run's replies,
    the second uses all but those about one caption.
    """

    store: MemoryStore = field(default_factory=MemoryStore)
    first: str = ""
    second: str = ""
    third: str = ""

    def copy(self, store: MemoryStore | None = None) -> MemoryStore:
        copy = store or MemoryStore()
        copy.objects = dict(self.store.objects)
        return copy


class DyingStore(MemoryStore):
    """A store that is gone after some deletions."""

    left = 0

    async def before(self, call: str, _: str) -> None:
        if call == "delete":
            if not self.left:
                raise StoreUnavailable("gone")
            self.left -= 1


@pytest.fixture(scope="module")
def stored() -> Stored:
    return asyncio.run(_three_runs())


async def _three_runs() -> Stored:
    stored = Stored()
    config = read_config(EXAMPLES / "careful.yaml")
    part = config.benchmarks["captionqa"]
    config = config.model_copy(update={"benchmarks": {"captionqa": part}})
    async with ChatServer(otherwise=answer("A")) as chat:
        # With loose replies, which can be told apart.
        ground = replace(memory_ground(stored.store), store=stored.store, whole=None)
        reader = QaReaderSettings(model=f"tgi:{chat.url}")
        async with installation(ground, reader=reader) as gateway:
            for name, limit in (("first", 3), ("second", 2), ("third", 1)):
                changed = config.model_copy(update={"limit": limit, "name": name})
                run = (await send(changed, gateway)).spec.run_id
                assert (await over(gateway, run)).state is RunState.COMPLETE
                setattr(stored, name, run)
    del stored.store.objects[f"runs/{stored.third}/end.json"]
    return stored


async def old_ones(store: DeletableStore, retention: Retention, now: datetime) -> list[OldRun]:
    return [each async for each in old_runs(store, retention, now)]


async def purge(store: DeletableStore, retention: Retention = ALL) -> list[str]:
    old = await old_ones(store, retention, NOW)
    assert all([await delete_run(store, each) for each in old])
    return [each.run for each in old]


async def listed(store: MemoryStore) -> set[str]:
    names = {key.rpartition("-")[2][:16] async for key in store.list("run-index/")}
    return {run for run in names if await read_spec(store, run) is not None}


def of(store: MemoryStore, *prefixes: str) -> set[str]:
    return {key for key in store.objects if key.startswith(prefixes)}


async def test_the_oldest_runs_go_and_others_keep_their_replies(stored: Stored) -> None:
    store = stored.copy()
    (old,) = await old_ones(store, NEWEST, NOW)
    assert store.objects == stored.store.objects
    assert await purge(store, NEWEST) == [stored.first] == [old.run]
    gone = stored.store.objects.keys() - store.objects.keys()
    assert len(gone) == old.objects
    assert sum(len(stored.store.objects[key]) for key in gone) == old.size
    assert of(store, f"runs/{stored.first}") == set()
    kept = ("runs/" + stored.second, "runs/" + stored.third, "datasets/", "media/", "supplied/")
    assert of(store, *kept) == of(stored.store, *kept)
    assert 0 < len(of(store, "jobs/")) < len(of(stored.store, "jobs/"))
    assert await listed(store) == {stored.second, stored.third}


async def test_replies_go_with_the_last_run_that_uses_them(stored: Stored) -> None:
    store = stored.copy()
    await purge(store, NEWEST)
    replies = of(store, "jobs/")
    assert await purge(store) == [stored.second]
    assert of(store, "jobs/") < replies
    # The third run, which stays, uses the rest.
    assert of(store, "jobs/")
    both = stored.copy()
    assert set(await purge(both)) == {stored.first, stored.second}
    assert both.objects == store.objects


async def test_replies_of_nobody_known_stay(stored: Stored) -> None:
    store = stored.copy()
    for key in of(store, "jobs/"):
        store.objects[key] = store.objects[key].replace(stored.first.encode(), b"")
    await purge(store)
    assert of(store, "jobs/") == of(stored.store, "jobs/")


async def test_runs_that_ended_lately_stay(stored: Stored) -> None:
    for retention in (Retention(newest=2), Retention(age=timedelta(hours=4))):
        assert await old_ones(stored.store, retention, NOW) == []
    assert await old_ones(stored.store, ALL, SystemClock().now()) == []


async def test_what_a_run_that_stays_is_judged_against_stays(stored: Stored) -> None:
    store = stored.copy()
    base = StopCriterion(stored.first, None, 1.0, 0.05, repeats=stored.second)
    await write_criterion(run_store(store, stored.third), base)
    assert await purge(store) == []
    await write_criterion(run_store(store, stored.third), replace(base, repeats=""))
    assert await purge(store) == [stored.second]
    store.objects[f"runs/{stored.third}/{CRITERION}"] = b"{"
    assert await purge(store) == [stored.first]


async def test_what_only_old_runs_are_judged_against_goes(stored: Stored) -> None:
    store = stored.copy()
    base = StopCriterion(stored.first, None, 1.0, 0.05)
    await write_criterion(run_store(store, stored.second), base)
    assert await purge(store) == [stored.first, stored.second]


@pytest.mark.parametrize("name", ["spec.json", "started.json", "end.json", "cancelled.json"])
@pytest.mark.parametrize("damage", [None, b"{"])
async def test_a_damaged_run_stays(stored: Stored, name: str, damage: bytes | None) -> None:
    store = stored.copy()
    key = f"runs/{stored.first}/{name}"
    if damage is None:
        del store.objects[key]
    else:
        store.objects[key] = damage
    gone = [stored.second, *[stored.first] * (name == "cancelled.json" and damage is None)]
    assert sorted(await purge(store)) == sorted(gone)


async def test_a_run_that_was_started_again_meanwhile_stays(stored: Stored) -> None:
    store = stored.copy()
    end = f"runs/{stored.first}/end.json"
    store.objects[end] = store.objects[end].replace(b'"complete"', b'"finished"')
    (old,) = await old_ones(store, NEWEST, NOW)
    await note_start(run_store(store, stored.first), Terms(), NOW)
    before = dict(store.objects)
    assert not await delete_run(store, old)
    assert store.objects == before


class StartingStore(MemoryStore):
    """A store in which a run is started as soon as something is deleted."""

    run = ""

    async def after(self, call: str, _: str) -> None:
        if call == "delete" and self.run:
            started, self.run = self.run, ""
            await note_start(run_store(self, started), Terms(), NOW)


async def test_a_run_that_is_started_while_it_is_deleted_stays(stored: Stored) -> None:
    store = stored.copy(StartingStore())
    end = f"runs/{stored.first}/end.json"
    store.objects[end] = store.objects[end].replace(b'"complete"', b'"finished"')
    (old,) = await old_ones(store, NEWEST, NOW)
    store.run = stored.first
    before = of(store, f"runs/{stored.first}/")
    assert not await delete_run(store, old)
    assert of(store, f"runs/{stored.first}/") >= before


async def test_what_else_lies_beside_runs_stops_no_purge(stored: Stored) -> None:
    store = stored.copy()
    store.objects["runs/README"] = b"ours"
    assert await purge(store, NEWEST) == [stored.first]
    assert store.objects["runs/README"] == b"ours"


async def test_a_purge_that_dies_is_completed_by_the_next(stored: Stored) -> None:
    undisturbed = stored.copy()
    (old,) = await old_ones(undisturbed, NEWEST, NOW)
    await delete_run(undisturbed, old)
    own = of(stored.store, f"runs/{stored.first}")
    for deletions in range(old.objects):
        store = DyingStore()
        stored.copy(store)
        store.left = deletions
        with pytest.raises(StoreUnavailable):
            await purge(store, NEWEST)
        is_whole = of(store, f"runs/{stored.first}") == own
        assert is_whole or stored.first not in await listed(store)
        store.left = old.objects
        assert await purge(store, NEWEST) == [stored.first]
        assert store.objects == undisturbed.objects


@pytest.fixture
async def bucket(minio: str) -> AsyncIterator[MinioStore]:
    async with new_bucket(minio) as store:
        yield store


async def test_a_bucket_is_left_as_any_store(stored: Stored, bucket: MinioStore) -> None:
    for key, data in stored.store.objects.items():
        await bucket.put(key, data)
    store = stored.copy()
    assert await old_ones(bucket, NEWEST, NOW) == await old_ones(store, NEWEST, NOW)
    await purge(bucket, NEWEST)
    await purge(store, NEWEST)
    assert [key async for key in bucket.list("")] == sorted(store.objects)
