"""Which kinds of verdicts a run has: from plan and ledger, without reading evidence."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item
from caliper.pipeline.aggregate import PlanReader
from caliper.pipeline.ledger import Ledger

Facet = tuple[str, str, str]
"""Benchmark, dimension and outcome, as a VerdictRow has them."""

Facets = Mapping[Facet, int]


def facets_of(item: Item, ledger: Ledger) -> Iterator[tuple[int, Facet]]:
    """The index and the facet of every verdict about an item."""
    chosen = benchmark(item.benchmark)
    for index, question, _ in item.positions():
        outcome = ledger.outcome(index)
        if outcome is not None:
            dimension = chosen.describe(item, question).dimension
            yield index, (item.benchmark, dimension, chosen.label(question, outcome))


async def count_facets(plan: PlanReader, ledger: Ledger) -> Facets:
    """How many verdicts each facet has. Raises InvalidInput when the plan is lost,
    StoreUnavailable.
    """
    counted: Counter[Facet] = Counter()
    async for items in plan():
        counted.update(facet for item in items for _, facet in facets_of(item, ledger))
        # A long plan takes its time, and others are waiting.
        await asyncio.sleep(0)
    return counted
