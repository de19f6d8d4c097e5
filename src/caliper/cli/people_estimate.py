"""`caliper labels estimate`: figures as people would judge them, from labels of a sample."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from caliper.adapters.phrases import in_part, number
from caliper.analysis.prediction_powered import LEAST_LABELS, PeopleEstimate
from caliper.benchmarks.registry import benchmark
from caliper.cli.console import OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.labels import StudioLabels, label_of, read_studio_labels
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput
from caliper.core.report import Coverage
from caliper.local.directory import RunDirectory, find_run
from caliper.pipeline.comparing.people_figures import (
    PeopleFigure,
    PeopleTruth,
    figures_by_people,
)
from caliper.pipeline.comparing.question_verdicts import (
    Questions,
    judged_questions,
    sampled_coverages,
)
from caliper.pipeline.ledger.report import tallies

Run = Annotated[str, typer.Argument(metavar="RUN", help="The run that was labelled.")]
Exports = Annotated[
    list[Path],
    typer.Option("--labels", metavar="PATH", help="Label Studio's export as JSON; repeatable."),
]
Width = Annotated[
    float | None,
    typer.Option(
        "--width",
        min=0.0,
        help="Also show how many more labels make intervals this wide.",
    ),
]
_SCALED = ("value", "these", "like_these", "judge", "people")


@dataclass(frozen=True, slots=True)
class _LabelEstimate:
    """Figures by benchmark, the labels behind them, and how much the judge has judged."""

    figures: Mapping[str, list[PeopleFigure]]
    labels: StudioLabels
    coverages: Mapping[str, Coverage]


def estimate(run: Run, labels: Exports, width: Width = None, json: Json = False) -> int:
    """Estimate a run's figures as people would judge all questions.

    Prediction-powered: labels of `caliper labels export --random` are the truth, the judge's
    verdicts narrow the interval, at 95%. Exit code 3: too few labels for any figure.
    """
    directory = find_run(run)
    result = asyncio.run(_estimate(directory, labels, width))
    if json:
        write_json(_as_json(directory, result))
    else:
        _show(result, width)
    conclusive = any(figure.estimate for figures in result.figures.values() for figure in figures)
    return Exit.DONE if conclusive else Exit.INCONCLUSIVE


async def _estimate(
    directory: RunDirectory, exports: Sequence[Path], width: float | None
) -> _LabelEstimate:
    run = await directory.stored_run.open()
    coverages = sampled_coverages(run)
    questions = await judged_questions(run)
    labels = read_studio_labels(exports, {run.run: questions})
    truth = _truth(labels, questions)
    totals = await tallies(run.spec, run.plan, run.ledger)
    figures = {}
    for name in dict.fromkeys(questions[one].first.benchmark for one in truth.scores):
        layout = benchmark(name).report(totals[name], run.spec.benchmark(name).settings)
        some = [one for one in questions.values() if one.first.benchmark == name]
        figures[name] = figures_by_people(some, truth, layout, totals[name], width)
    return _LabelEstimate(figures, labels, {name: coverages[name] for name in figures})


def _truth(labels: StudioLabels, questions: Questions) -> PeopleTruth:
    scores: dict[str, list[float]] = {}
    for person_labels in labels.people.values():
        for (name, _), label in person_labels.items():
            # A label is rounded, its score is not.
            possible = questions[name].words.values()
            scores.setdefault(name, []).extend(one for one in possible if label_of(one) == label)
    return PeopleTruth(
        {name: some for name, some in scores.items() if some}, _probabilities(labels, questions)
    )


def _probabilities(labels: StudioLabels, questions: Questions) -> dict[str, float]:
    """The probability with which each question was drawn. Of several samples of a run, the largest
    contains the others: its probability holds for all equally doubtful questions of a task or
    domain.
    """
    largest: dict[tuple[str, str, bool], float] = {}
    groups = {}
    for name, share in labels.probability.items():
        if share is None:
            raise InvalidInput(
                "labels of tasks that were chosen by doubt, not at random: export with --random",
                field="--labels",
            )
        row = questions[name].first
        group = groups[name] = row.benchmark, row.dimension, name in labels.doubtful
        largest[group] = max(share, largest.get(group, 0.0))
    return {name: largest[group] for name, group in groups.items()}


def _as_json(directory: RunDirectory, estimate: _LabelEstimate) -> dict[str, Any]:
    labels, coverages = estimate.labels, estimate.coverages
    return {
        "run": directory.read_spec().run_id,
        "people": len(labels.people),
        "labels": labels.count(skipped=False),
        "skipped": labels.count(skipped=True),
        "undrawn": {name: one.undrawn for name, one in coverages.items() if one.undrawn},
        "benchmarks": {
            name: {
                ".".join(figure.path): (
                    {"labels_missing": figure.missing}
                    if figure.estimate is None
                    else _scaled(figure.estimate, figure.scale)
                )
                for figure in figures
            }
            for name, figures in estimate.figures.items()
        },
    }


def _scaled(estimate: PeopleEstimate, scale: float) -> dict[str, Any]:
    values = asdict(estimate)
    for name in _SCALED:
        value = values[name]
        values[name] = value * scale if isinstance(value, float) else [x * scale for x in value]
    return values


def _show(estimate: _LabelEstimate, width: float | None) -> None:
    labels = estimate.labels
    more = () if width is None else (f"for {width:g}",)
    heads = ("labels", "judge", "estimate", "these questions", "like these", *more)
    for name, figures in estimate.figures.items():
        grid = text_table(["figure"], heads, name, no_wrap=True)
        for figure in figures:
            grid.add_row(escape(".".join(figure.path)), *_cells(figure, width))
        OUT.print(grid)
        if part := in_part(estimate.coverages[name]):
            OUT.print(f"{escape(name)}: {part}; these questions are the judged ones.")
    OUT.print(
        f"People: {len(labels.people):,}; labels: {labels.count(skipped=False):,}; skipped: "
        f"{labels.count(skipped=True):,}. Intervals at 95%; {LEAST_LABELS} labels per task."
    )


def _cells(figure: PeopleFigure, width: float | None) -> Iterator[str]:
    if figure.estimate is None:
        yield f"[dim]{figure.missing:,} too few[/dim]"
        return
    values = _scaled(figure.estimate, figure.scale)
    yield f"{values['labels']:,}"
    yield from (number(values[name]) for name in ("judge", "value"))
    for name in ("these", "like_these"):
        yield "..".join(map(number, values[name]))
    if width is not None:
        yield f"{values['labels_needed']:,} more"
