"""Jobs go out in an order in which what is judged so far stands for the whole run."""

from itertools import groupby

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryStore

from caliper.benchmarks.capability.tasks import NAMES
from caliper.core.question import Item, Question, Source
from caliper.core.rows import Row
from caliper.pipeline.planning.publication_order import (
    ROUNDS,
    WINDOW,
    portions,
    read_shuffled,
    shuffle,
)
from caliper.pipeline.planning.publisher import jobs


def an_item(sample: str, medium: str, source: Source = Source.CAPTION) -> Item:
    return Item("capability", sample, sample, medium, (medium,), (Question(0, None),), source)


@pytest.mark.parametrize("shards", [0, 1, 2, WINDOW, WINDOW + 1, 100, 1000])
def test_portions_are_the_whole_plan_once(shards: int) -> None:
    published = dict.fromkeys(range(shards), 0.0)
    for window, (low, high) in portions(shards, 7):
        assert 0 < len(window) <= WINDOW
        assert window[0] < window.step
        assert window[-1] >= shards - window.step
        for shard in window:
            assert published[shard] == low
            published[shard] = high
        # From the first round on, no part of the plan is more than twice ahead of another.
        assert high <= ROUNDS[1] or max(published.values()) <= 2 * min(published.values())
    assert set(published.values()) <= {1.0}


def test_shares_of_a_window_are_the_whole_window_once() -> None:
    items = [an_item(f"{task}/{number}", f"{number}") for task in NAMES for number in range(7)]
    shares = [(0.0, 0.1), (0.1, 0.5), (0.5, 1.0)]
    assert [each for part in shares for each in shuffle(items, 0, part)] == shuffle(items, 0)


def test_the_seed_decides_the_order() -> None:
    items = [an_item(f"scene/{number}", f"{number}.jpg") for number in range(50)]
    orders = [[item.sample for item in shuffle(items, seed)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(item.sample for item in items)
    found = [[window for window, _ in portions(1000, seed)] for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


def test_a_medium_and_a_sample_stay_together() -> None:
    # Ten media, each in two tasks and asked about; one sample has items about two media.
    items = [
        item
        for task in ("action", "event")
        for number in range(10)
        for item in (
            an_item(f"{task}/{number}", f"{number}.mp4"),
            an_item(f"{task}/{number}", f"{number}.mp4", Source.MEDIA),
        )
    ]
    items += [an_item("odd", "1.mp4"), an_item("odd", "2.mp4")]
    found = shuffle(items, 3)
    media = [name for name, _ in groupby(found, key=lambda item: item.cluster)]
    assert len(media) <= len(set(media)) + 1
    assert sorted(map(len, jobs(found))) == sorted(map(len, jobs(items)))


async def test_the_first_jobs_cover_every_task() -> None:
    rows = [
        Row(
            f"{task}.jsonl",
            number + 1,
            {"task": task, "file_id": f"{number}", "file_path": f"{task}/{number}.jpg"},
        )
        for task in NAMES
        for number in range(200)
    ]
    store = MemoryStore()
    planned = await runs.planned(
        runs.spec(runs.part("capability")), {"capability": runs.sources(rows, {})}, store
    )
    found = [item async for part in read_shuffled(store, planned.summary, 0) for item in part]
    assert sorted(found, key=lambda item: item.first) == planned.items
    assert {item.key.split("/")[0] for item in found[:130]} == set(NAMES)
