"""Counts of verdicts per facet, from plan and ledger, without reading evidence."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item
from caliper.core.report import VerdictRow
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.store.plan import PlanReader

Facet = tuple[str, str, str, str]
"""Benchmark, dimension, outcome and category, as in a VerdictRow."""


@dataclass(frozen=True, slots=True)
class Facets:
    """The number of verdicts per facet, and the shards of the plan that contain them."""

    counts: Mapping[Facet, int] = field(default_factory=dict)
    shards: Mapping[Facet, AbstractSet[int]] = field(default_factory=dict)


def facet_of(row: VerdictRow) -> Facet:
    """The facet of a verdict."""
    return row.benchmark, row.dimension, row.outcome, row.category


def facets_of(item: Item, ledger: Ledger) -> Iterator[tuple[int, Facet]]:
    """The index and the facet of every verdict about an item."""
    definition = benchmark(item.benchmark)
    for index, question, _ in item.positions():
        outcome = ledger.outcome(index)
        if outcome is not None:
            told = definition.describe(item, question)
            label = definition.label(question, outcome)
            yield index, (item.benchmark, told.dimension, label, told.category)


async def planned_kinds(plan: PlanReader, name: str = "") -> dict[str, tuple[str, ...]]:
    """The dimensions and the categories of all questions of a plan, or of those of one benchmark,
    in plan order.

    Raises InvalidInput when the plan is lost, StoreUnavailable.
    """
    dimensions: dict[str, None] = {}
    categories: dict[str, None] = {}
    async for items in plan():
        for item in items:
            if name in ("", item.benchmark):
                describe = benchmark(item.benchmark).describe
                for told in (describe(item, question) for question in item.questions):
                    dimensions[told.dimension] = categories[told.category] = None
        # Do not block the event loop over a long plan.
        await asyncio.sleep(0)
    return {"dimension": tuple(dimensions), "category": tuple(filter(None, categories))}


async def count_facets(plan: PlanReader, ledger: Ledger) -> Facets:
    """The facets of a whole plan. Raises InvalidInput when the plan is lost, StoreUnavailable."""
    counts: Counter[Facet] = Counter()
    shards: defaultdict[Facet, set[int]] = defaultdict(set)
    number = 0
    async for items in plan():
        in_shard = Counter(facet for item in items for _, facet in facets_of(item, ledger))
        counts.update(in_shard)
        for facet in in_shard:
            shards[facet].add(number)
        number += 1
        # Do not block the event loop over a long plan.
        await asyncio.sleep(0)
    return Facets(counts, shards)
