"""Look up items of a plan by question index, without loading the whole plan."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cachetools import LRUCache

from caliper.core.question import Item
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.store.plan import read_plan

_CACHE_SIZE = 50_000


@dataclass(slots=True)
class _Shard:
    """The items of a shard in plan order, their first indices, and the items of each sample."""

    items: list[Item]
    firsts: list[int]
    samples: dict[tuple[str, str], list[Item]] = field(default_factory=dict)

    @classmethod
    def of(cls, items: list[Item]) -> _Shard:
        shard = cls(items, [item.first for item in items])
        for item in items:
            shard.samples.setdefault((item.benchmark, item.sample), []).append(item)
        return shard

    def sample(self, index: int) -> Sequence[Item]:
        item = self.items[bisect_right(self.firsts, index) - 1]
        return self.samples[item.benchmark, item.sample]

    @property
    def size(self) -> int:
        """The number of its items and questions, the cost in the cache."""
        return sum(1 + item.size for item in self.items)


class PlanLookup:
    """Finds the shard of an index by binary search, with an LRU cache of shards.

    The cache holds at most `most` items and questions together, and at least one shard. The
    default, some 40 MB, holds any of the three benchmarks, whose samples come in any order.
    """

    def __init__(self, most: int = _CACHE_SIZE) -> None:
        self._shards: LRUCache[tuple[str, int], tuple[int, _Shard]] = LRUCache(
            most, lambda shard: min(shard[0], most)
        )
        self._firsts: dict[str, dict[int, int]] = {}

    async def sample(self, run: RunLedger, index: int) -> Sequence[Item]:
        """The items of the sample that an index in a run's plan belongs to.

        Raises InvalidInput when the plan is lost, StoreUnavailable.
        """
        firsts = self._firsts.setdefault(run.run, {})
        low, high = 0, run.summary.shards - 1
        while low < high:
            # Cached first indices narrow the range for free; otherwise a shard has to be read.
            middle = _between(firsts, low, high, index)
            if middle is None:
                middle = (low + high + 1) // 2
                await self._read(run, middle)
            if firsts[middle] <= index:
                low = middle
            else:
                high = middle - 1
        return (await self._read(run, low)).sample(index)

    async def _read(self, run: RunLedger, number: int) -> _Shard:
        key = (run.run, number)
        if key in self._shards:
            return self._shards[key][1]
        items = await anext(read_plan(run.store, run.summary, number))
        self._firsts.setdefault(run.run, {})[number] = items[0].first
        shard = _Shard.of(items)
        self._shards[key] = shard.size, shard
        return shard

    def clear(self) -> None:
        """Clear the cache of shards: there have been no lookups for a while."""
        self._shards.clear()

    def forget(self, run: str) -> None:
        """Drop the cached shards of a run."""
        self._firsts.pop(run, None)
        for key in [key for key in self._shards if key[0] == run]:
            del self._shards[key]


def _between(firsts: Mapping[int, int], low: int, high: int, index: int) -> int | None:
    """The shard in (low, high] whose cached first index narrows the range most."""
    cached = [number for number in firsts if low < number <= high]
    before = [number for number in cached if firsts[number] <= index]
    if before:
        return max(before)
    return min(cached, default=None)
