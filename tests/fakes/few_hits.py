"""Runs of CAPability in which few media are mentioned, with their true figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numpy.random import Generator

from caliper.analysis.compare import difference
from caliper.analysis.intervals import estimate
from caliper.analysis.significance import LEVEL
from caliper.benchmarks.registry import benchmark
from caliper.core.report import Figure
from caliper.core.tally import Tally


@dataclass(frozen=True)
class Task:
    """A task of `media` with one question each: the share that captions mention, and the share of
    these that are right.
    """

    mentioned: float
    right: float
    media: int = 900

    @property
    def truths(self) -> dict[str, float]:
        recall = self.mentioned * self.right
        f1 = 2 * recall / (1 + self.mentioned)
        return {"precision": 100 * self.right, "recall": 100 * recall, "f1": 100 * f1}


def draw_run(draw: Generator, tasks: Mapping[str, Task]) -> Tally:
    """A run in which media are mentioned, and mentions are right, at random."""
    tally = Tally()
    for name, task in tasks.items():
        hit = draw.random(task.media) < task.mentioned
        right = hit & (draw.random(task.media) < task.right)
        for medium, (mentioned, correct) in enumerate(
            zip(hit.tolist(), right.tolist(), strict=True)
        ):
            tally.add(
                f"caption/{name}/0",
                f"{name}-{medium}",
                scored=1,
                hit=int(mentioned),
                correct=int(correct),
                unscored=0,
            )
    return tally


def figure_of(tally: Tally, *path: str) -> Figure:
    """The benchmark's own figure at this path."""
    layout = benchmark("capability").report(tally, {})
    return next(figure for figure in layout.figures if figure.path == path)


@dataclass
class IntervalCoverage:
    """In how many `draws` the interval `held` the true value, and the sum of interval widths."""

    draws: int = 0
    held: int = 0
    width: float = 0.0

    def take(self, low: float | None, high: float | None, truth: float) -> None:
        """Add one draw; a draw without an interval is not counted."""
        if low is None or high is None:
            return
        self.draws += 1
        self.held += low <= truth <= high
        self.width += high - low


@dataclass
class Coverage:
    """Coverage for a figure of one run, and for the difference of two equal ones; also how many of
    the latter were clear.
    """

    alone: IntervalCoverage = field(default_factory=IntervalCoverage)
    apart: IntervalCoverage = field(default_factory=IntervalCoverage)
    clear: int = 0

    def take(self, figure: Figure, sides: tuple[Tally, Tally], truth: float) -> None:
        """Add one pair of runs."""
        interval = estimate(figure, sides[0])
        self.alone.take(interval.low, interval.high, truth)
        change = difference(figure, *sides)
        self.apart.take(change.low, change.high, 0.0)
        self.clear += change.p is not None and change.p < LEVEL


def coverage(draw: Generator, task: Task, metric: str, draws: int) -> Coverage:
    """The coverage for one task's figure; runs without a hit have no precision and are redrawn."""
    result = Coverage()
    while result.apart.draws < draws:
        sides = draw_run(draw, {"OCR": task}), draw_run(draw, {"OCR": task})
        hits = [tally.total("caption/OCR/0")["hit"] for tally in sides]
        if metric != "precision" or all(hits):
            result.take(figure_of(sides[0], "tasks", "OCR", metric), sides, task.truths[metric])
    return result


AVERAGED: Mapping[str, Task] = {
    **{
        name: Task(0.7, 0.6 + 0.03 * place, 300)
        for place, name in enumerate(("object_color", "scene", "OCR", "style", "action"))
    },
    "event": Task(0.04, 0.95, 60),
    "character_identification": Task(0.05, 0.97, 60),
    "camera_movement": Task(0.05, 0.95, 60),
}
"""Five tasks that are well filled, and three with about three hits, nearly all right."""


def coverage_of_average(
    draw: Generator, tasks: Mapping[str, Task], metric: str, draws: int
) -> Coverage:
    result = Coverage()
    truth = sum(task.truths[metric] for task in tasks.values()) / len(tasks)
    while result.apart.draws < draws:
        sides = draw_run(draw, tasks), draw_run(draw, tasks)
        result.take(figure_of(sides[0], "average", metric), sides, truth)
    return result
