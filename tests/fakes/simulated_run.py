"""Simulated runs of whole benchmarks as they are looked at before their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from caliper.core.report import Estimate
from caliper.core.tally import Amount, Tally
from caliper.pipeline.planning.publication_order import shuffle

LOOKS = (0.05, 0.2, 0.6, 1.0)
"""The shares of the samples after which a run is looked at; the last is its end."""

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
        (cell, {"sum": Fraction(int(draw.binomial(20, ease)) * most, 20), "n": 1})
        for cell, most in (("objects", 1), ("attribute/0", 5), ("relation/0", 5))
    ]


_SHAPES = {
    "capability": _Shape({task: 90 + 20 * place for place, task in enumerate(NAMES)}, _element),
    "captionqa": _Shape(dict(zip(DOMAINS, (220, 180, 150, 107), strict=True)), _choices),
    "comprecap": _Shape({"pictures": 560}, _picture),
}
BENCHMARKS = tuple(_SHAPES)


class SimulatedRun:
    """A run whose jobs are done in the order in which they are published.

    Parts differ in difficulty, media too, and the first media of a part are easier than its last.
    """

    def __init__(self, name: str, seed: int) -> None:
        self._name, shape = name, _SHAPES[name]
        draw = np.random.default_rng(seed)
        self._outcomes: dict[str, _Outcome] = {}
        items: list[Item] = []
        for part, size in shape.parts.items():
            level = draw.uniform(0.3, 0.7)
            for number in range(size):
                drift = 0.15 - 0.3 * number / size
                ease = min(1.0, max(0.0, level + drift + draw.uniform(-0.15, 0.15)))
                sample = f"{part}/{number}"
                question = Question(0, SimpleNamespace(domain=part))
                items.append(Item(name, sample, sample, sample, (), (question,)))
                self._outcomes[sample] = shape.draw(draw, part, ease)
        # All of it fits one window.
        self._order = [item.sample for item in shuffle(items, seed)]

    def headlines(self) -> list[Estimate]:
        """The headline at each of the looks."""
        tally, done = Tally(), 0
        found = []
        for share in LOOKS:
            end = round(share * len(self._order))
            for sample in self._order[done:end]:
                for cell, sums in self._outcomes[sample]:
                    tally.add(cell, sample, **sums)
            found.append(self._headline(tally))
            done = end
        return found

    def _headline(self, tally: Tally) -> Estimate:
        layout = benchmark(self._name).report(tally, {})
        figure = next(each for each in layout.figures if each.path == layout.headline)
        return estimate(figure, tally)
