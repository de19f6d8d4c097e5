"""Items of a plan by one of their indices, without holding the plan."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cachetools import LRUCache

from caliper.core.question import Item
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.store.plan import read_plan

_MOST = 10_000


@dataclass(slots=True)
class _Shard:
    """Items in plan order with their first indices, and the items of each sample."""

    items: list[Item]
    firsts: list[int]
    samples: dict[tuple[str, str], list[Item]] = field(default_factory=dict)

    @classmethod
    def of(cls, items: list[Item]) -> _Shard:
        found = cls(items, [item.first for item in items])
        for item in items:
            found.samples.setdefault((item.benchmark, item.sample), []).append(item)
        return found

    def sample(self, index: int) -> Sequence[Item]:
        item = self.items[bisect_right(self.firsts, index) - 1]
        return self.samples[item.benchmark, item.sample]

    @property
    def size(self) -> int:
        """Its items and questions."""
        return sum(1 + item.size for item in self.items)


class PlanLookup:
    """Finds the shard that an index is in. The last shards are at hand, of at most `most` items
    and questions together, or one: runs are worked on about in the order of their plans.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._shards: LRUCache[tuple[str, int], tuple[int, _Shard]] = LRUCache(
            most, lambda shard: min(shard[0], most)
        )
        self._firsts: dict[str, dict[int, int]] = {}

    async def sample(self, run: RunLedger, index: int) -> Sequence[Item]:
        """The items of the sample that an index of a run's plan belongs to.

        Raises InvalidInput when the plan is lost, StoreUnavailable.
        """
        firsts = self._firsts.setdefault(run.run, {})
        low, high = 0, run.summary.shards - 1
        while low < high:
            # Known beginnings cost nothing: only between two of them a shard has to be read.
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
        place = (run.run, number)
        if place in self._shards:
            return self._shards[place][1]
        items = await anext(read_plan(run.store, run.summary, number))
        self._firsts.setdefault(run.run, {})[number] = items[0].first
        shard = _Shard.of(items)
        self._shards[place] = shard.size, shard
        return shard

    def rest(self) -> None:
        """Nothing is at hand any more: nobody has asked for a while."""
        self._shards.clear()

    def forget(self, run: str) -> None:
        """A run that is no longer held."""
        self._firsts.pop(run, None)
        for place in [place for place in self._shards if place[0] == run]:
            del self._shards[place]


def _between(firsts: Mapping[int, int], low: int, high: int, index: int) -> int | None:
    """A shard after `low` up to `high` whose beginning is known and tells the most."""
    known = [number for number in firsts if low < number <= high]
    before = [number for number in known if firsts[number] <= index]
    if before:
        return max(before)
    return min(known, default=None)
