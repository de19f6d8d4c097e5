"""Simulated runs of whole benchmarks as they are looked at before their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from numpy.random import Generator

from caliper.analysis.intervals import estimate
from caliper.benchmarks.capability.tasks import NAMES
from caliper.benchmarks.captionqa.domains import DOMAINS
from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item, Question
from caliper.core.report import Estimate, Figure
from caliper.core.tally import Amount, Tally
from caliper.pipeline.planning.publication_order import portions, shuffle

LOOKS = (0.05, 0.2, 0.6)
"""The shares of the samples after which a run is looked at before its end."""

_Outcome = list[tuple[str, dict[str, Amount]]]
"""The sums of a medium by cell."""


@dataclass(frozen=True)
class _Shape:
    """Parts of a benchmark in plan order with their media, and the outcome of a medium."""

    parts: Mapping[str, int]
    draw: Callable[[Generator, str, float], _Outcome]


def _element(draw: Generator, task: str, ease: float) -> _Outcome:
    correct = int(draw.random() < ease)
    hit = correct or int(draw.random() < 0.5)
    sums: dict[str, Amount] = {"scored": 1, "hit": hit, "correct": correct, "unscored": 0}
    return [(f"caption/{task}/0", sums)]


def _choices(draw: Generator, domain: str, ease: float) -> _Outcome:
    asked = int(draw.integers(30, 70))
    right = int(draw.binomial(asked, ease))
    sums: dict[str, Amount] = {
        "scored": asked,
        "points": right,
        "correct": right,
        "offered": asked,
        "cannot": 0,
    }
    return [(f"caption/{domain}", sums)]


def _picture(draw: Generator, _: str, ease: float) -> _Outcome:
    return [
        (cell, {"sum": Fraction(int(draw.binomial(steps, ease)) * most, steps), "n": 1})
        for cell, most, steps in (("objects", 1, 4), ("attribute/0", 5, 5), ("relation/0", 5, 5))
    ]


_SHAPES = {
    "capability": _Shape({task: 90 + 20 * place for place, task in enumerate(NAMES)}, _element),
    "captionqa": _Shape(dict(zip(DOMAINS, (220, 180, 150, 107), strict=True)), _choices),
    "comprecap": _Shape({"pictures": 560}, _picture),
}
BENCHMARKS = tuple(_SHAPES)
_HEADLINES: dict[tuple[str, frozenset[str]], Figure] = {}
"""The headline by benchmark and the cells that there are."""


class SimulatedRun:
    """A run whose parts differ in difficulty, and media too: the first media of a part are easier
    than its last.
    """

    def __init__(self, name: str, seed: int) -> None:
        self._name, self._seed, shape = name, seed, _SHAPES[name]
        draw = np.random.default_rng(seed)
        self._outcomes: dict[str, _Outcome] = {}
        self._items: list[Item] = []
        for part, size in shape.parts.items():
            level = draw.uniform(0.3, 0.7)
            for number in range(size):
                drift = 0.15 - 0.3 * number / size
                ease = min(1.0, max(0.0, level + drift + draw.uniform(-0.15, 0.15)))
                sample = f"{part}/{number}"
                question = Question(0, SimpleNamespace(domain=part))
                self._items.append(Item(name, sample, sample, sample, (), (question,)))
                self._outcomes[sample] = shape.draw(draw, part, ease)

    @property
    def plan_order(self) -> list[str]:
        """The samples in the order of the plan, in which no run is published."""
        return [item.sample for item in self._items]

    def order(self, shards: int) -> list[str]:
        """The samples in the order in which their jobs are published, of a plan of so many
        `shards`: with more than a window has, in rounds over the windows.
        """
        bounds = [len(self._items) * number // shards for number in range(shards + 1)]
        return [
            item.sample
            for window, shares in portions(shards, self._seed)
            for item in shuffle(
                [item for each in window for item in self._items[bounds[each] : bounds[each + 1]]],
                self._seed,
                shares,
            )
        ]

    def misses(self, order: Sequence[str]) -> list[bool]:
        """Whether the interval at each look misses the final headline, if jobs are done in this
        order.
        """
        tally, live, done = Tally(), list[Estimate](), 0
        for share in LOOKS:
            end = round(share * len(order))
            self._add(tally, order[done:end])
            live.append(estimate(self._headline(tally), tally))
            done = end
        self._add(tally, order[done:])
        headline = self._headline(tally)
        final = headline.statistic({cell: tally.total(cell) for cell in headline.cells})
        assert final is not None
        return [not _bound(each.low) <= final <= _bound(each.high) for each in live]

    def _add(self, tally: Tally, samples: Sequence[str]) -> None:
        for sample in samples:
            for cell, sums in self._outcomes[sample]:
                tally.add(cell, sample, **sums)

    def _headline(self, tally: Tally) -> Figure:
        found = _HEADLINES.get((self._name, frozenset(tally)))
        if found is None:
            layout = benchmark(self._name).report(tally, {})
            found = next(each for each in layout.figures if each.path == layout.headline)
            _HEADLINES[self._name, frozenset(tally)] = found
        return found


def _bound(bound: float | None) -> float:
    assert bound is not None
    return bound
