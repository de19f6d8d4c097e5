"""Judged tasks of CAPability, and the figures of their sums."""

from __future__ import annotations

from fractions import Fraction

from caliper.benchmarks.base import Outcomes, PlanRequest, ReportLayout
from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.core.question import Item
from caliper.core.report import Path
from caliper.core.rows import Row
from caliper.core.tally import Tally

ANNOTATIONS: dict[str, object] = {
    "object_number": {"cup": 2},
    "object_color": {"cup": "red"},
    "dynamic_object_number": {"cup": 2, "dog": 1},
    "camera_angle": "low angle",
    "style": "realistic",
    "camera_movement": "in",
}
FAILED = Unscored(Reason.UNREADABLE)


def scored(score: int) -> Outcome:
    return Scored(Fraction(score))


def rows(task: str, number: int) -> list[Row]:
    return [
        Row(
            f"{task}.jsonl",
            place + 1,
            {
                "file_id": str(place),
                "file_path": f"{task}/{place}.jpg",
                "task": task,
                "annotation": ANNOTATIONS.get(task, "something"),
            },
        )
        for place in range(number)
    ]


def judged(task: str, outcomes: list[list[Outcome]]) -> list[tuple[Item, Outcomes]]:
    """Items of a task; `outcomes` holds per question the outcomes of its repeats, in order."""
    repeats = len(outcomes[0])
    pairs = 2 if task == "dynamic_object_number" else 1
    request = PlanRequest(settings={}, repeats=repeats)
    items = BENCHMARK.plan(rows(task, len(outcomes) // pairs), request)
    given_ones = iter(outcomes)
    return [
        (
            item,
            {
                (question.ordinal, repeat): outcome
                for question in item.questions
                for repeat, outcome in enumerate(next(given_ones))
            },
        )
        for item in items
    ]


def values(tally: Tally) -> dict[Path, float | None]:
    sums = {cell: tally.total(cell) for cell in tally}
    by_path = {}
    for figure in BENCHMARK.report(tally, {}).figures:
        by_path[figure.path] = figure.statistic({cell: sums.get(cell, {}) for cell in figure.cells})
    return by_path


def layout(tally: Tally, **settings: str) -> ReportLayout:
    return BENCHMARK.report(tally, settings)


def once(*scores: int | None) -> list[list[Outcome]]:
    return [[FAILED if score is None else scored(score)] for score in scores]
