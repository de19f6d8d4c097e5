"""Draws the questions that a run judged in part asks.

Per stratum (task or domain), without replacement, in an order seeded by the captions: nobody can
train a checkpoint on the questions that it will be asked, and two checkpoints seldom share an
unlucky draw. Source: ours, reviewed by simulation; what is sampled is "these questions".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from caliper.benchmarks.registry import benchmark
from caliper.core.keys import digest
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question, Source
from caliper.core.run import BenchmarkSpec

_LARGEST = 2**64


@dataclass(frozen=True, slots=True)
class DrawUnit:
    """Questions about a caption that are drawn together: one, or all of an indivisible item.

    `item` is the place of the item among all, `ordinals` are the unit's questions.
    """

    item: int
    ordinals: frozenset[int]
    medium: str


def caption_seed(part: BenchmarkSpec, seed: int) -> str:
    """What the draw of a benchmark depends on: the captions, or whoever writes them, and the seed
    of the run.
    """
    writer = part.models.get("captioner") if part.captions is None else None
    source = part.captions if writer is None else [writer.to_json(), part.prompt]
    return digest([seed, part.name, source])


def in_part(items: Sequence[Item], share: float, seed: str) -> Iterator[Item]:
    """The items, with every question about a caption that is not drawn marked as such.

    Of N askable units of a stratum, ceil(share * N) are drawn.
    """
    drawn: dict[int, set[int]] = {}
    for units in strata(items).values():
        for unit in spread(units, seed)[: ceil(share * len(units))]:
            drawn.setdefault(unit.item, set()).update(unit.ordinals)
    for place, item in enumerate(items):
        if item.source is Source.MEDIA:
            yield item
        else:
            yield _marked(item, drawn.get(place, set()))


def strata(items: Sequence[Item]) -> dict[str, list[DrawUnit]]:
    """The units of each stratum, in the order of the items. Questions that cannot be asked are of
    no stratum.
    """
    found: dict[str, list[DrawUnit]] = {}
    for place, item in enumerate(items):
        askable = [each.ordinal for each in item.questions if each.unscored is None]
        if item.source is Source.MEDIA or not askable:
            continue
        definition = benchmark(item.benchmark)
        sets: Iterable[Iterable[int]] = (
            ([ordinal] for ordinal in askable) if definition.is_divisible else [askable]
        )
        units = found.setdefault(definition.group(item), [])
        units += (DrawUnit(place, frozenset(ordinals), item.cluster) for ordinals in sets)
    return found


def spread(units: Sequence[DrawUnit], seed: str) -> list[DrawUnit]:
    """The units of a stratum in a random order that every medium is spread over evenly.

    Each unit is equally likely to be among the first n. Of the m units of a medium, in random
    order, the j-th (from 0) is placed at (j + u) / m, with one uniform u for the medium: source,
    systematic sampling with a random start (Cochran, Sampling Techniques, 1977, chapter 8).
    """
    by_medium: dict[str, list[DrawUnit]] = {}
    for unit in units:
        by_medium.setdefault(unit.medium, []).append(unit)
    placed: list[tuple[float, str, DrawUnit]] = []
    for medium, members in by_medium.items():
        start = int(digest([seed, medium])[:16], 16) / _LARGEST
        ranked = sorted((digest([seed, unit.item, min(unit.ordinals)]), unit) for unit in members)
        placed += (
            ((number + start) / len(ranked), rank, unit)
            for number, (rank, unit) in enumerate(ranked)
        )
    placed.sort(key=lambda each: each[:2])
    return [unit for _, _, unit in placed]


def _marked(item: Item, drawn: set[int]) -> Item:
    def marked(question: Question[object]) -> Question[object]:
        if question.unscored is not None or question.ordinal in drawn:
            return question
        return replace(question, unscored=Reason.NOT_DRAWN)

    return replace(item, questions=tuple(map(marked, item.questions)))
