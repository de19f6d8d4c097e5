"""Counts a run's captions with signs of suspicion: in their texts, media and verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item
from caliper.core.suspicion import MANY_MEDIA, Sign, Suspicious, count_signs, repeated
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.store.plan import PlanReader

_FEWEST_LABELS = 3
"""Fewer labels are a sign of nothing in any benchmark, so that most runs need no look at them."""


async def suspicious(
    name: str, plan: PlanReader, texts: Mapping[str, str], ledger: Ledger
) -> Suspicious:
    """Signs of a benchmark's captions, given by sample, including one caption used for many media,
    and one in which the judge found most categories.
    """
    alike = repeated(texts)
    labelled = ledger.has_labels(_FEWEST_LABELS)
    media: dict[str, set[str]] = {text: set() for text in alike.values()}
    on_most: set[str] = set()
    if alike or labelled:
        async for items in plan():
            own = [item for item in items if item.benchmark == name]
            for item in own:
                if item.sample in alike:
                    media[alike[item.sample]].add(item.cluster)
            if labelled:
                on_most.update(item.sample for item in own if _states_most(item, ledger))
    on_many = {sample for sample, text in alike.items() if len(media[text]) >= MANY_MEDIA}
    known: dict[Sign, Collection[str]] = {Sign.REPEATED: on_many, Sign.CATEGORIES: on_most}
    return count_signs(texts, benchmark(name).alternatives, known)


def _states_most(item: Item, ledger: Ledger) -> bool:
    many_labels = benchmark(item.benchmark).many_labels
    return any(
        ledger.labels(index) >= many
        for index, question, _ in item.positions()
        if (many := many_labels(question)) is not None
    )
