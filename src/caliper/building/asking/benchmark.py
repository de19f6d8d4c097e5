"""The declaration of the model steps, which run like evaluations: on the same jobs, streams and
stores, with the same budgets and resumption. A step reads the verdicts of its run.
"""

from __future__ import annotations

from collections.abc import Iterable

from caliper.benchmarks.base import Outcomes, QuestionText, ReportLayout, Settings, count_figure
from caliper.benchmarks.benchmark import Benchmark
from caliper.building.asking import planning
from caliper.building.asking.examination import SETTINGS, examine, generation
from caliper.building.asking.questions import StepQuestion, decode, encode
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Scored
from caliper.core.question import Item, Question
from caliper.core.report import Table, TableRow
from caliper.core.tally import Tally

_AMOUNTS = {"answered": "answered", "right": "questions written, or right answers"}


def describe(item: Item, question: Question[StepQuestion]) -> QuestionText:
    """A question in readable form; its dimension is the step."""
    del item
    payload = question.payload
    return QuestionText(payload.step, payload.question or payload.category, payload.answer)


def reduce(outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
    """Count the readable replies, and those with score 1."""
    del settings
    tally = Tally()
    for item, results in outcomes:
        for outcome in results.values():
            scored = isinstance(outcome, Scored)
            right = isinstance(outcome, Scored) and outcome.score == 1
            tally.add(
                "all",
                item.cluster,
                scored=int(scored),
                answered=int(scored),
                right=int(right),
                unscored=int(not scored),
            )
    return tally


def report(tally: Tally, settings: Settings) -> ReportLayout:
    """The counts: the figures of a build are in its own summary."""
    del tally, settings
    figures = tuple(count_figure((name,), ("all",), name) for name in _AMOUNTS)
    rows = tuple(TableRow(text, ((name,),)) for name, text in _AMOUNTS.items())
    return ReportLayout(("answered",), figures, (Table("Replies", ("n",), rows),))


BENCHMARK = Benchmark(
    name=planning.NAME,
    title="Building",
    description="The model steps of caliper build.",
    role="reader",
    data=Layout(FileFormat.TABLE),
    plan=planning.plan,
    encode=encode,
    decode=decode,
    examine=examine,
    generation=generation,
    describe=describe,
    reduce=reduce,
    report=report,
    settings=SETTINGS,
    qa_replies=Layout(FileFormat.TABLE),
    unused_caption=lambda _: True,
)
