"""`caliper agreement`: how far judges agree with each other or with people."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters.datasets.label_studio import is_label_studio
from caliper.adapters.exports.choice import choice_csv, choice_markdown
from caliper.adapters.files import write_text
from caliper.adapters.phrases import NO_DATA, number
from caliper.analysis.agreement import Agreement, Coefficient
from caliper.analysis.choice import ModelChoice
from caliper.cli.console import ERR, OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, output_file
from caliper.cli.labels import Labels, Possible, read_labels, read_studio_labels
from caliper.cli.opinions import Opinions, choices
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput
from caliper.core.report import Estimate
from caliper.core.run import RunSpec
from caliper.local.directory import RunDirectory, find_run
from caliper.local.reports import possible_scores, read_verdicts
from caliper.pipeline.comparing.question_verdicts import Questions, judged_questions

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Run directories, names below runs/, or run ids, with the same captions.",
    ),
]
People = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels",
        metavar="PATH",
        help="JSON Lines of question_id and score, one file per person, or Label Studio's JSON; "
        "repeatable.",
    ),
]
Csv = Annotated[
    Path | None, output_file("--csv", "how the choice of judge or reader changes the scores")
]
Markdown = Annotated[Path | None, output_file("--markdown", "the same as a Markdown table")]
Blank = Annotated[
    list[str] | None,
    typer.Option(
        "--blank",
        metavar="RUN",
        help="For --csv and --markdown, a run of a reader over empty captions; repeatable.",
    ),
]


def agreement(
    runs: Runs,
    labels: People = None,
    csv: Csv = None,
    markdown: Markdown = None,
    blank: Blank = None,
    json: Json = False,
) -> int:
    """Measure how well judges agree with each other or with people.

    Accuracy is the share of questions on which all agree. Cohen's kappa is for two raters,
    Fleiss' kappa for questions that all rated, Krippendorff's alpha for any number of verdicts per
    question. Intervals are at 95% and allow for correlated verdicts about one medium. Unscored
    verdicts and measured quantities do not count. Exit code 3: no question has two raters.
    """
    raters = len(runs) + len(labels or ())
    if raters < 2:
        raise InvalidInput("expected two or more raters: runs, or a run and --labels")
    directories = [find_run(name) for name in runs]
    refuse_other_captions([directory.read_spec() for directory in directories])
    opinions = asyncio.run(_opinions(directories))
    by_benchmark = opinions.agreements(_people(labels or (), opinions.possible, directories))
    if csv is not None or markdown is not None:
        blank_runs = [find_run(name) for name in blank or ()]
        _write(asyncio.run(choices(directories, opinions, blank_runs)), csv, markdown)
    elif blank:
        raise InvalidInput("needs --csv or --markdown", field="--blank")
    if json:
        values = {
            name: {dimension: asdict(result) for dimension, result in parts.items()}
            for name, parts in by_benchmark.items()
        }
        write_json(values, sort_keys=True)
    else:
        for name, parts in by_benchmark.items():
            OUT.print(agreement_table(name, parts))
    conclusive = any(
        result.questions for parts in by_benchmark.values() for result in parts.values()
    )
    return Exit.DONE if conclusive else Exit.INCONCLUSIVE


async def _opinions(directories: Sequence[RunDirectory]) -> Opinions:
    possible: dict[str, tuple[float, ...]] = {}
    for directory in directories:
        possible |= await possible_scores(directory)
    return Opinions([await read_verdicts(directory) for directory in directories], possible)


def _write(choices: Sequence[ModelChoice], csv: Path | None, markdown: Path | None) -> None:
    if csv is not None:
        write_text(csv, choice_csv(choices))
    if markdown is not None:
        write_text(markdown, choice_markdown(choices))


def refuse_other_captions(specs: Sequence[RunSpec]) -> None:
    """Refuse runs over different captions or data, whose verdicts cannot be compared."""
    for spec in specs[1:]:
        for part in spec.benchmarks:
            firsts = [other for other in specs[0].benchmarks if other.name == part.name]
            if any((other.data, other.captions) != (part.data, part.captions) for other in firsts):
                raise InvalidInput(
                    f"the runs {specs[0].name} and {spec.name} differ in data or captions of "
                    f"{part.name}, so their verdicts cannot be compared"
                )


def _people(
    paths: Sequence[Path], possible: Possible, runs: Sequence[RunDirectory]
) -> list[Labels]:
    """Read people's labels, with a warning about labels of questions that no run has."""
    exports = [path for path in paths if is_label_studio(path)]
    everyone = []
    for path in paths:
        if path in exports:
            continue
        labels = read_labels(path, possible)
        if unknown := sum(question not in possible for question, _ in labels):
            ERR.print(
                f"[yellow]Warning:[/yellow] {escape(str(path))}: {unknown:,} of {len(labels):,} "
                "labels are of questions that no run has",
                soft_wrap=True,
            )
        everyone.append(labels)
    if exports:
        studio = read_studio_labels(exports, asyncio.run(_questions(runs)))
        doubtful = len(studio.doubtful)
        ERR.print(
            f"Label Studio: people: {len(studio.people):,}; "
            f"labels: {studio.count(skipped=False):,}; "
            f"skipped: {studio.count(skipped=True):,}; doubtful questions: {doubtful:,}"
            + (", over-represented: agreement on all may be higher" if doubtful else ""),
            soft_wrap=True,
        )
        everyone += studio.people.values()
    return everyone


async def _questions(runs: Sequence[RunDirectory]) -> dict[str, Questions]:
    opened = [await directory.stored_run.open() for directory in runs]
    return {run.run: await judged_questions(run) for run in opened}


def agreement_table(name: str, parts: Mapping[str, Agreement]) -> Table:
    """A table of the agreement per part, for the terminal."""
    two_raters = any(result.cohen is not None for result in parts.values())
    kappa = "Cohen's kappa" if two_raters else "Fleiss' kappa"
    grid = text_table([""], ("questions", "accuracy", kappa, "alpha"), name, no_wrap=True)
    for dimension, result in parts.items():
        kappa_value = result.cohen or Coefficient(None) if two_raters else result.fleiss
        figures = map(coefficient, (result.accuracy, kappa_value, result.alpha))
        grid.add_row(escape(dimension), f"{result.questions:,}", *figures)
    return grid


def coefficient(estimate: Coefficient | Estimate, form: Callable[[float], str] = number) -> str:
    """Format a coefficient and its interval for the terminal."""
    if estimate.value is None:
        return f"[dim]{NO_DATA}[/dim]"
    if estimate.low is None or estimate.high is None:
        return form(estimate.value)
    return f"{form(estimate.value)} [dim]{form(estimate.low)}..{form(estimate.high)}[/dim]"
