"""`caliper agreement`: how far judges agree with each other or with people."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.agreement_tables import agreement_sections
from caliper.adapters.datasets.label_studio import is_label_studio
from caliper.adapters.exports.choice import choice_csv, choice_markdown, choice_values
from caliper.adapters.files import write_text
from caliper.adapters.pages.analyses import render_analyses
from caliper.analysis.agreement import Agreement
from caliper.analysis.choice import ModelChoice
from caliper.cli.console import ERR, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Page, output_file
from caliper.cli.labels import Labels, Possible, read_labels, read_studio_labels
from caliper.cli.opinions import Opinions, choices
from caliper.cli.options import command_taking
from caliper.cli.tables import print_sections
from caliper.core.errors import InvalidInput
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
    Path | None, output_file("--csv", "how the choice of judge or reader changes scores")
]
Markdown = Annotated[Path | None, output_file("--markdown", "the same as Markdown")]
Blank = Annotated[
    list[str] | None,
    typer.Option(
        "--blank",
        metavar="RUN",
        help="For files and --json, a run of a reader over empty captions; repeatable.",
    ),
]


HELP = """Measure how well judges agree with each other or with people.

Accuracy is the share of questions on which all agree. Cohen's kappa is for two raters,
Fleiss' kappa for questions that all rated, Krippendorff's alpha for any number of verdicts per
question. Intervals are at 95% and allow for correlated verdicts about one medium. Unscored
verdicts and measured quantities do not count. Exit code 3: no question has two raters.
"""


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """The arguments and options of `agreement`."""

    runs: Runs
    labels: People = None
    csv: Csv = None
    markdown: Markdown = None
    html: Page = None
    blank: Blank = None
    json: Json = False

    @property
    def shows_choice(self) -> bool:
        """Whether the choice of a judge or reader is written to any file, or as JSON."""
        return self.json or any((self.csv, self.markdown, self.html))


def _agreement(options: AgreementOptions) -> int:
    labels = options.labels or ()
    if len(options.runs) + len(labels) < 2:
        raise InvalidInput("expected two or more raters: runs, or a run and --labels")
    if options.blank and not options.shows_choice:
        raise InvalidInput("needs --csv, --markdown, --html or --json", field="--blank")
    directories = [find_run(name) for name in options.runs]
    refuse_other_captions([directory.read_spec() for directory in directories])
    opinions = asyncio.run(_opinions(directories))
    by_benchmark = opinions.agreements(_people(labels, opinions.possible, directories))
    compared: list[ModelChoice] = []
    if options.shows_choice:
        blank = [find_run(name) for name in options.blank or ()]
        compared = asyncio.run(choices(directories, opinions, blank))
    _write(options, by_benchmark, compared)
    conclusive = any(
        result.questions for parts in by_benchmark.values() for result in parts.values()
    )
    return Exit.DONE if conclusive else Exit.INCONCLUSIVE


def _write(
    options: AgreementOptions,
    by_benchmark: Mapping[str, Mapping[str, Agreement]],
    compared: Sequence[ModelChoice],
) -> None:
    if options.csv is not None:
        write_text(options.csv, choice_csv(compared))
    if options.markdown is not None:
        write_text(options.markdown, choice_markdown(compared))
    if options.html is not None:
        sections = agreement_sections(by_benchmark, compared)
        people = "; ".join(map(str, options.labels or ()))
        note = people and f"Labels: {people}."
        write_text(options.html, render_analyses("Agreement", sections, options.runs, note))
    if options.json:
        values: dict[str, object] = {
            name: {dimension: asdict(result) for dimension, result in parts.items()}
            for name, parts in by_benchmark.items()
        }
        write_json(values | {"choice": choice_values(compared)}, sort_keys=True)
    else:
        print_sections(agreement_sections(by_benchmark))


async def _opinions(directories: Sequence[RunDirectory]) -> Opinions:
    possible: dict[str, tuple[float, ...]] = {}
    for directory in directories:
        possible |= await possible_scores(directory)
    return Opinions([await read_verdicts(directory) for directory in directories], possible)


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


agreement = command_taking(_agreement, AgreementOptions, help_text=HELP)
