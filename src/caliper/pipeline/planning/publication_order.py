"""The order in which the jobs of a run are published: a seeded shuffle of its plan.

A plan is ordered by task and domain, so in its order a running evaluation would show figures of
some of them only. Shuffled, the verdicts so far are a sample of the whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import pairwise
from math import ceil

from caliper.benchmarks.registry import benchmark
from caliper.core.plan import PlanSummary
from caliper.core.question import Item
from caliper.pipeline.store.plan import read_shard, seeded_rank
from caliper.ports.storage import ObjectStore

Shares = tuple[float, float]
"""The start and end of a part of a window, as shares of it."""

WINDOW = 24
"""The most shards that are shuffled together: at most 70 MB, and enough for the three benchmarks
of one run.
"""
ROUNDS = (0, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
"""The ends of the rounds over the windows of a larger plan, as shares of each window. Windows
differ, so a run would not represent the whole if they were published one after the other.
"""


async def read_shuffled(
    store: ObjectStore, summary: PlanSummary, seed: int
) -> AsyncIterator[list[Item]]:
    """The items of a plan in publication order, a part of a window at a time.

    Raises InvalidInput when a shard is missing or broken.
    """
    for window, shares in portions(summary.shards, seed):
        items = [item for each in window for item in await read_shard(store, summary, each)]
        # In a thread: a large plan would keep other tasks waiting.
        yield await asyncio.to_thread(shuffle, items, seed, shares)


def portions(shards: int, seed: int) -> Iterator[tuple[range, Shares]]:
    """Windows of the plan, and the shares of them to publish, in order.

    The shards of a window are evenly spaced over the plan.
    """
    step = ceil(shards / WINDOW)
    starts = sorted(range(step), key=lambda start: seeded_rank(seed, str(start)))
    for shares in pairwise(ROUNDS if step > 1 else (0, 1)):
        for start in starts:
            yield range(start, shards, step), shares


def shuffle(items: Sequence[Item], seed: int, shares: Shares = (0, 1)) -> list[Item]:
    """A share of the items, in a seeded order over which every task and domain is spread evenly.

    Items of one medium stay together, so that it is decoded once, and so do those of one sample,
    which are one job.
    """
    medium_of: dict[tuple[str, str], str] = {}
    groups: dict[tuple[str, str], list[str]] = {}
    grouped = set[str]()
    media: list[str] = []
    for item in items:
        medium = medium_of.setdefault((item.benchmark, item.sample), item.cluster)
        media.append(medium)
        if medium not in grouped:
            grouped.add(medium)
            group = item.benchmark, benchmark(item.benchmark).group(item)
            groups.setdefault(group, []).append(medium)
    low, high = shares
    places: dict[str, tuple[float, bytes]] = {}
    for members in groups.values():
        ranked = sorted((seeded_rank(seed, medium), medium) for medium in members)
        for number, (rank, medium) in enumerate(ranked):
            place = (number + 0.5) / len(ranked)
            if low <= place < high:
                places[medium] = place, rank
    chosen = [number for number, medium in enumerate(media) if medium in places]
    return [items[number] for number in sorted(chosen, key=lambda number: places[media[number]])]
