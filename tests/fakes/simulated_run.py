"""Simulated runs of whole benchmarks as they are looked at before their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from caliper.analysis.intervals import estimate
from caliper.benchmarks.capability.tasks import NAMES
from caliper.benchmarks.captionqa.domains import DOMAINS
from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item, Question
from caliper.core.report import Estimate, Figure
from caliper.core.tally import Sums, Tally
from caliper.pipeline.planning.publication_order import portions, shuffle

LOOKS = (0.05, 0.2, 0.6)
"""The shares of the samples after which a run is looked at before its end."""

_Eases = NDArray[np.float64]
_Outcome = list[tuple[str, Sums]]
"""The sums of a medium by cell."""


@dataclass(frozen=True)
class _Shape:
    """Parts of a benchmark in plan order with their media, and the outcomes of a part's media."""

    parts: Mapping[str, int]
    draw: Callable[[Generator, str, _Eases], list[_Outcome]]


_ELEMENTS = [
    {"scored": 1, "hit": int(points > 0), "correct": int(points > 1), "unscored": 0}
    for points in range(3)
]


def _elements(draw: Generator, task: str, eases: _Eases) -> list[_Outcome]:
    correct = draw.random(len(eases)) < eases
    hit = correct | (draw.random(len(eases)) < 0.5)
    return [[(f"caption/{task}/0", _ELEMENTS[points])] for points in correct + hit.astype(int)]


def _choices(draw: Generator, domain: str, eases: _Eases) -> list[_Outcome]:
    asked = draw.integers(30, 70, len(eases))
    right = draw.binomial(asked, eases)
    return [
        [(f"caption/{domain}", {"scored": n, "points": r, "correct": r, "offered": n, "cannot": 0})]
        for n, r in zip(asked.tolist(), right.tolist(), strict=True)
    ]


_SCORES = {
    cell: [{"sum": Fraction(most * step, steps), "n": 1} for step in range(steps + 1)]
    for cell, most, steps in (("objects", 1, 4), ("attribute/0", 5, 5), ("relation/0", 5, 5))
}


def _pictures(draw: Generator, _: str, eases: _Eases) -> list[_Outcome]:
    steps = [draw.binomial(len(scores) - 1, eases) for scores in _SCORES.values()]
    return [
        [(cell, scores[step]) for (cell, scores), step in zip(_SCORES.items(), taken, strict=True)]
        for taken in zip(*steps, strict=True)
    ]


_SHAPES = {
    "capability": _Shape({task: 90 + 20 * place for place, task in enumerate(NAMES)}, _elements),
    "captionqa": _Shape(dict(zip(DOMAINS, (220, 180, 150, 107), strict=True)), _choices),
    "comprecap": _Shape({"pictures": 560}, _pictures),
}
BENCHMARKS = tuple(_SHAPES)
_HEADLINES: dict[tuple[str, frozenset[str]], Figure] = {}
"""The headline by benchmark and the cells that there are."""


@cache
def _plan(name: str) -> list[Item]:
    return [
        Item(name, sample, sample, sample, (), (Question(0, SimpleNamespace(domain=part)),))
        for part, size in _SHAPES[name].parts.items()
        for sample in (f"{part}/{number}" for number in range(size))
    ]


class SimulatedRun:
    """A run whose parts differ in difficulty, and media too: the first media of a part are easier
    than its last.
    """

    def __init__(self, name: str, seed: int) -> None:
        self._name, self._seed, self._items = name, seed, _plan(name)
        draw, shape = np.random.default_rng(seed), _SHAPES[name]
        outcomes = list[_Outcome]()
        for part, size in shape.parts.items():
            drift = 0.15 - 0.3 * np.arange(size) / size
            eases = draw.uniform(0.3, 0.7) + drift + draw.uniform(-0.15, 0.15, size)
            outcomes += shape.draw(draw, part, eases.clip(0, 1))
        self._outcomes = dict(zip(self.plan_order, outcomes, strict=True))

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
