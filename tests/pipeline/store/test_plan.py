import gzip
import json
from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.runs import BOTH, FOUND, REPLAY
from tests.fakes.stores import MemoryStore

from caliper.core.errors import DataLoss, InvalidInput, NewerSchema
from caliper.core.keys import canonical_json
from caliper.core.question import Source
from caliper.pipeline.store.decompression import MOST_UNPACKED
from caliper.pipeline.store.plan import (
    SHARD_ITEMS,
    SHARD_QUESTIONS,
    SUMMARY,
    plan,
    plan_items,
    read_plan,
    read_summary,
)
from caliper.ports.storage import Sources


async def test_indices_are_dense_and_in_order() -> None:
    planned = await runs.planned(BOTH, FOUND, MemoryStore())
    indices = [index for item in planned.items for index, _, _ in item.positions()]
    assert indices == list(range(3 + 3 + 2 * 3 * 2))
    capability, captionqa = planned.summary.benchmarks
    assert (capability.first, capability.questions, capability.items) == (0, 6, 6)
    assert (captionqa.first, captionqa.questions, captionqa.items) == (6, 12, 2)
    assert (capability.samples, captionqa.samples) == (3, 2)
    assert planned.summary.questions == len(indices)


async def test_items_of_a_sample_stand_together_question_forms_too() -> None:
    planned = await runs.planned(BOTH, FOUND, MemoryStore())
    capability = [item for item in planned.items if item.benchmark == "capability"]
    assert [(item.sample, item.source) for item in capability] == [
        (f"scene/{number:04}", source)
        for number in range(3)
        for source in (Source.CAPTION, Source.MEDIA)
    ]


async def test_planning_twice_writes_the_same_bytes() -> None:
    stores = [MemoryStore(), MemoryStore()]
    for store in stores:
        await plan(BOTH, FOUND, store)
    assert stores[0].objects == stores[1].objects
    assert len(stores[0].objects) == 2
    # The time stamp in the header of a gzip file: planning at another time writes it too.
    assert stores[0].objects["plan/000000.jsonl.gz"][4:8] == bytes(4)


async def test_a_plan_that_stands_is_not_made_again() -> None:
    store = MemoryStore()
    summary = await plan(BOTH, FOUND, store)
    nothing = {name: runs.sources([], None) for name in FOUND}
    assert await plan(BOTH, nothing, store) == summary


async def test_the_plan_of_another_run_is_not_taken_for_ours() -> None:
    store = MemoryStore()
    await plan(BOTH, FOUND, store)
    other = replace(BOTH, seed=1)
    assert (await plan(other, FOUND, store)).run == other.run_id


async def test_rows_that_cannot_be_planned_leave_nothing_behind() -> None:
    store = MemoryStore()
    broken = {**FOUND, "captionqa": runs.sources(runs.choice_rows(1, 1) * 2, {})}
    with pytest.raises(InvalidInput, match="appears twice"):
        await plan(BOTH, broken, store)
    assert store.objects == {}


async def test_a_plan_of_nothing_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="no questions for captionqa"):
        await plan(runs.spec(), {"captionqa": runs.sources([], {})}, MemoryStore())


def test_questions_from_the_media_need_data_of_their_own() -> None:
    part = BOTH.benchmark("capability")
    with pytest.raises(InvalidInput, match=r"capability: .*--qa"):
        plan_items(BOTH, part, runs.sources(runs.scene_rows(1), {}))


@pytest.mark.parametrize("extra", [-1, 0, 1])
async def test_a_shard_holds_so_many_items(extra: int) -> None:
    count = SHARD_ITEMS + extra
    found = {"capability": runs.sources(runs.scene_rows(count), {})}
    planned = await runs.planned(runs.spec(runs.part("capability")), found, MemoryStore())
    assert [len(shard) for shard in planned.shards] == ([count] if extra <= 0 else [SHARD_ITEMS, 1])
    assert [item.first for item in planned.items] == list(range(count))


async def test_a_shard_holds_so_many_questions() -> None:
    # The sample that fills one is whole.
    full = SHARD_QUESTIONS // 7 + 1
    found = {"captionqa": runs.sources(runs.choice_rows(2 * full + 1, 7), {})}
    planned = await runs.planned(runs.spec(), found, MemoryStore())
    sizes = [sum(item.size for item in shard) for shard in planned.shards]
    assert sizes == [7 * full, 7 * full, 7]


async def test_a_shard_holds_so_many_bytes() -> None:
    spec = runs.spec(runs.part("capability"))
    planned = await runs.planned(spec, long_rows(3, MOST_UNPACKED * 5 // 12), MemoryStore())
    assert [len(shard) for shard in planned.shards] == [2, 1]
    with pytest.raises(InvalidInput, match="the questions about 'scene/0000' are too long"):
        await plan(spec, long_rows(1, MOST_UNPACKED), MemoryStore())


def long_rows(count: int, size: int) -> dict[str, Sources]:
    annotation = {"annotation": "a" * size}
    rows = [replace(row, fields={**row.fields, **annotation}) for row in runs.scene_rows(count)]
    return {"capability": runs.sources(rows, {})}


async def test_a_sample_is_never_split_across_shards() -> None:
    # Two items a sample, and one of one before them: every full shard would end inside one.
    rows, questions = runs.scene_rows(SHARD_ITEMS + 2), runs.scene_questions(SHARD_ITEMS + 2)[1:]
    part = runs.part("capability", models={"judge": runs.JUDGE, "media": REPLAY})
    found = {"capability": runs.sources(rows, {}, questions)}
    planned = await runs.planned(runs.spec(part), found, MemoryStore())
    assert len(planned.shards) == 3
    assert len(planned.shards[0]) == SHARD_ITEMS + 1
    samples = [{item.sample for item in shard} for shard in planned.shards]
    assert sum(map(len, samples)) == len(set.union(*samples)) == len(rows)


async def test_a_lost_shard_is_told() -> None:
    store = MemoryStore()
    summary = await plan(BOTH, FOUND, store)
    del store.objects["plan/000000.jsonl.gz"]
    with pytest.raises(InvalidInput, match=r"plan/000000\.jsonl\.gz: the plan lost a shard"):
        [shard async for shard in read_plan(store, summary)]


@pytest.mark.parametrize("data", [None, b"", b"rubbish"])
@pytest.mark.parametrize("key", [SUMMARY, "plan/000000.jsonl.gz"])
async def test_a_plan_that_lost_an_object_is_written_again(key: str, data: bytes | None) -> None:
    store = MemoryStore()
    summary = await plan(BOTH, FOUND, store)
    whole = dict(store.objects)
    lose(store, key, data)
    assert await plan(BOTH, FOUND, store) == summary
    assert store.objects == whole


async def test_a_lost_plan_is_not_replaced_by_another() -> None:
    store = MemoryStore()
    await plan(BOTH, FOUND, store)
    lose(store, "plan/000000.jsonl.gz", b"")
    left = dict(store.objects)
    fewer = {**FOUND, "captionqa": runs.sources(runs.choice_rows(1, 1), {})}
    with pytest.raises(DataLoss, match=r"plan/000000\.jsonl\.gz: .*another plan"):
        await plan(BOTH, fewer, store)
    assert store.objects == left


def lose(store: MemoryStore, key: str, data: bytes | None) -> None:
    del store.objects[key]
    if data is not None:
        store.objects[key] = data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"rubbish",
        gzip.compress(b"rubbish\n", mtime=0),
        gzip.compress(b"{}\n", mtime=0),
        gzip.compress(b'{"benchmark": "captionqa"}\n' * 100, mtime=0)[:-9],
        gzip.compress(b"[1]\n", mtime=0),
    ],
    ids=range(6),
)
async def test_a_broken_shard_is_invalid_input(data: bytes) -> None:
    store = MemoryStore()
    summary = await plan(BOTH, FOUND, store)
    store.objects["plan/000000.jsonl.gz"] = data
    with pytest.raises(InvalidInput):
        [shard async for shard in read_plan(store, summary)]


async def test_a_shard_of_another_plan_is_refused() -> None:
    stores = [MemoryStore(), MemoryStore()]
    fewer = {**FOUND, "captionqa": runs.sources(runs.choice_rows(2, 3)[::-1], {})}
    summaries = [
        await plan(BOTH, found, store) for found, store in zip((FOUND, fewer), stores, strict=True)
    ]
    assert summaries[0].benchmarks == summaries[1].benchmarks
    whole, key = dict(stores[0].objects), "plan/000000.jsonl.gz"
    stores[0].objects[key] = stores[1].objects[key]
    with pytest.raises(DataLoss, match=rf"{key}: broken shard: not what was planned"):
        [shard async for shard in read_plan(stores[0], summaries[0])]
    assert await plan(BOTH, FOUND, stores[0]) == summaries[0]
    assert stores[0].objects == whole


async def test_a_plan_of_an_earlier_release_has_no_digests() -> None:
    store = MemoryStore()
    summary = await plan(BOTH, FOUND, store)
    fields = json.loads(store.objects[SUMMARY])
    assert len(fields["digests"]) == fields["shards"] == 1
    await store.put(SUMMARY, canonical_json({**fields, "digests": []}))
    with_none = await plan(BOTH, FOUND, store)
    assert with_none == replace(summary, digests=())
    assert [shard async for shard in read_plan(store, with_none)]
    await store.put(SUMMARY, canonical_json({**fields, "digests": ["0" * 64] * 2}))
    with pytest.raises(DataLoss, match="2 digests of 1 shards"):
        await read_summary(store)


async def test_the_plan_of_a_newer_release_is_refused() -> None:
    store = MemoryStore()
    await plan(BOTH, FOUND, store)
    store.objects[SUMMARY] = store.objects[SUMMARY].replace(b'"schema":1', b'"schema":2')
    with pytest.raises(NewerSchema, match=r"plan/summary\.json"):
        await plan(BOTH, FOUND, store)


async def test_a_limit_reaches_the_plan() -> None:
    run = replace(BOTH, limit=1)
    planned = await runs.planned(run, FOUND, MemoryStore())
    keys = [item.key for item in planned.items]
    assert len(keys) == 3
    assert keys[1] == f"qa/{keys[0]}"


async def test_items_survive_the_plan() -> None:
    planned = await runs.planned(BOTH, FOUND, MemoryStore())
    fresh = [item for part in BOTH.benchmarks for item in plan_items(BOTH, part, FOUND[part.name])]
    assert [replace(item, first=0) for item in planned.items] == fresh
