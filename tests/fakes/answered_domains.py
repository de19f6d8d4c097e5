"""Items of CaptionQA with given outcomes, and the figures of their sums."""

from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import PlanRequest, ReportLayout
from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.core.question import Item
from caliper.core.report import Path
from caliper.core.rows import Row
from caliper.core.tally import Tally

RIGHT, WRONG = Scored(Fraction(1)), Scored(Fraction(0))
# Three choices: 1/3 + 0.05.
CANNOT = Scored(Fraction(23, 60))
LOST = Unscored(Reason.NO_REPLY)


def question(category: str = "Attribute - Color", *, yes_no: bool = False) -> dict[str, Any]:
    if yes_no:
        return {
            "question": "Is it?",
            "choices": ["Yes", "No"],
            "answer": "No",
            "category": category,
        }
    choices = ["red", "green", "blue"]
    return {"question": "What?", "choices": choices, "answer": "red", "category": category}


def plan(
    samples: dict[str, Any], *, repeats: int | None = 1, qa: list[Row] | None = None
) -> list[Item]:
    rows = [
        Row("d.json", line, {"id": key, "questions": questions, "images": [f"{key}.jpg"]})
        for line, (key, questions) in enumerate(samples.items(), 1)
    ]
    return list(BENCHMARK.plan(rows, PlanRequest({}, repeats=repeats, qa_rows=qa)))


def tally_of(items: list[Item], outcomes: dict[str, list[Outcome]], **settings: str) -> Tally:
    """The tally of items, whose outcomes are given by item key in index order."""
    return BENCHMARK.reduce(
        [
            (
                item,
                {
                    (asked.ordinal, repeat): outcome
                    for (_, asked, repeat), outcome in zip(
                        item.positions(), outcomes[item.key], strict=True
                    )
                },
            )
            for item in items
        ],
        settings,
    )


def values(tally: Tally, **settings: str) -> tuple[ReportLayout, dict[Path, float | None]]:
    layout = BENCHMARK.report(tally, settings)
    by_path = {}
    for figure in layout.figures:
        sums = {cell: tally.total(cell) for cell in figure.cells}
        assert figure.path not in by_path
        by_path[figure.path] = figure.statistic(sums)
    return layout, by_path


def two_domains() -> Tally:
    items = plan(
        {
            "nat_1": [question(), question("Spatial - Orientation"), question(yes_no=True)],
            "nat_2": [question("")],
            "doc_1": [question("Layout")],
        }
    )
    outcomes = {"nat_1": [RIGHT, CANNOT, WRONG], "nat_2": [LOST], "doc_1": [CANNOT]}
    return tally_of(items, outcomes)
