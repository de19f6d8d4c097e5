"""Runs of CAPability in which few media are mentioned, with their true figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.random import Generator

from caliper.benchmarks.registry import benchmark
from caliper.core.report import Figure
from caliper.core.tally import Tally


@dataclass(frozen=True)
class Task:
    """A task of `media` with one question each: the share that captions mention, and the share of
    those that are right.
    """

    mentioned: float
    right: float
    media: int = 900

    @property
    def truths(self) -> dict[str, float]:
        """The true figures, in percent."""
        recall = self.mentioned * self.right
        f1 = 2 * recall / (1 + self.mentioned)
        return {"precision": 100 * self.right, "recall": 100 * recall, "f1": 100 * f1}


def draw_run(draw: Generator, tasks: Mapping[str, Task]) -> Tally:
    """A run: every medium is mentioned by chance, and what is mentioned is right by chance."""
    tally = Tally()
    for name, task in tasks.items():
        hit = draw.random(task.media) < task.mentioned
        right = hit & (draw.random(task.media) < task.right)
        for medium, (told, correct) in enumerate(zip(hit.tolist(), right.tolist(), strict=True)):
            tally.add(
                f"caption/{name}/0",
                f"{name}-{medium}",
                scored=1,
                hit=int(told),
                correct=int(correct),
                unscored=0,
            )
    return tally


def figure_of(tally: Tally, *path: str) -> Figure:
    """The benchmark's own figure at that path."""
    layout = benchmark("capability").report(tally, {})
    return next(figure for figure in layout.figures if figure.path == path)
