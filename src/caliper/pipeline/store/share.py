"""Draws the questions for a run that is judged in part.

Per stratum (task or domain), without replacement, in an order seeded by the captions: nobody can
train a checkpoint on the questions that it will be asked, and two checkpoints seldom share an
unlucky draw. What is sampled is "these questions".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from caliper.analysis.draw_order import Unit, spread
from caliper.benchmarks.registry import benchmark
from caliper.core.keys import digest
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question, Source
from caliper.core.run import BenchmarkSpec


def caption_seed(part: BenchmarkSpec, seed: int) -> str:
    """The seed of a benchmark's draw, from the run's seed and its captions or their captioner."""
    writer = part.models.get("captioner") if part.captions is None else None
    source = part.captions if writer is None else [writer.to_json(), part.prompt]
    return digest([seed, part.name, source])


def in_part(items: Sequence[Item], share: float, seed: str) -> Iterator[Item]:
    """The items, with undrawn questions about captions marked.

    Of N askable units of a stratum, ceil(share * N) are drawn.
    """
    members, strata = list[tuple[int, set[int]]](), dict[str, list[Unit]]()
    for place, item in enumerate(items):
        for ordinals in _sets(item):
            group = benchmark(item.benchmark).group(item)
            strata.setdefault(group, []).append(Unit(len(members), group, item.cluster))
            members.append((place, ordinals))
    drawn: dict[int, set[int]] = {}
    for units in strata.values():
        for index in spread(units, seed.encode())[: ceil(share * len(units))]:
            place, ordinals = members[index]
            drawn.setdefault(place, set()).update(ordinals)
    for place, item in enumerate(items):
        if item.source is Source.MEDIA:
            yield item
        else:
            yield _marked(item, drawn.get(place, set()))


def _sets(item: Item) -> list[set[int]]:
    """The questions about a caption that can be asked, by ordinal: each alone, or all of an
    indivisible item together.
    """
    askable = {each.ordinal for each in item.questions if each.unscored is None}
    if item.source is Source.MEDIA or not askable:
        return []
    if benchmark(item.benchmark).is_divisible:
        return [{ordinal} for ordinal in sorted(askable)]
    return [askable]


def _marked(item: Item, drawn: set[int]) -> Item:
    def marked(question: Question[object]) -> Question[object]:
        if question.unscored is not None or question.ordinal in drawn:
            return question
        return replace(question, unscored=Reason.NOT_DRAWN)

    return replace(item, questions=tuple(map(marked, item.questions)))
