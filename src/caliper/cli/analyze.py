"""`caliper analyze`: the analyses of a benchmark's paper, over stored runs."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from caliper.adapters.capability_tables import capability_sections
from caliper.adapters.captionqa_tables import table_sections
from caliper.analysis.capability import analyses as capability_analyses
from caliper.analysis.captionqa import analyses as caption_analyses
from caliper.analysis.captionqa.ranking_stability import DRAWS
from caliper.cli.analyses import chosen_analyses, only_option, write_analyses
from caliper.cli.analyze_comprecap import comprecap
from caliper.cli.comparison import Partial
from caliper.cli.flags import Json, Page
from caliper.cli.run_arguments import Runs
from caliper.local.analyses.element_verdicts import read_element_verdicts
from caliper.local.analyses.question_answers import read_answers
from caliper.local.directory import find_run

CapabilityNames = Annotated[list[str] | None, only_option(capability_analyses.NAMES)]
CaptionNames = Annotated[list[str] | None, only_option(caption_analyses.NAMES)]
Draws = Annotated[
    int,
    typer.Option(
        "--draws", min=1, max=10_000, help="Draws per size for the stability of the ranking."
    ),
]


app = typer.Typer(help="The analyses of a benchmark's paper.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """The analyses of a benchmark's paper."""


@app.command("capability")
def capability(
    runs: Runs,
    only: CapabilityNames = None,
    html: Page = None,
    partial: Partial = False,
    json: Json = False,
) -> int:
    """Analyse the verdicts of several runs of CAPability.

    hits: precision against hit rate, by task and over runs; kt_bar: facts that a model knows when
    asked, but leaves out of its caption; judging: the same captions judged again, and by other
    judges; sweeps: runs of one captioner with other frames or resolutions; length: caption length
    against score. A model is a run's label. Runs whose setup differs from the first are used only
    for the stability of the judge. Exit code 3: none is possible.
    """
    names = chosen_analyses(only, capability_analyses.NAMES)
    stored = [find_run(name).stored_run for name in runs]
    first, others = asyncio.run(read_element_verdicts(stored, partial=partial))
    analyses = capability_analyses.analyse_verdicts(first, others, names)
    sections = capability_sections(analyses)
    return write_analyses(
        analyses, sections, "CAPability", "the stability of the judge", html=html, json=json
    )


@app.command("captionqa")
def captionqa(
    runs: Runs,
    only: CaptionNames = None,
    draws: Draws = DRAWS,
    html: Page = None,
    partial: Partial = False,
    json: Json = False,
) -> int:
    """Analyse the answers of several runs of CaptionQA.

    difficulty: easy, medium and hard questions; stability: the ranking with fewer questions, other
    readers and other orders of the options; gap: QA on the image minus QA on the caption; prompts:
    gains and losses by caption prompt; errors: coverage, accuracy and kinds of errors. A model is a
    run's label. Runs whose setup differs from the first are used only for the stability of the
    ranking. Exit code 3: none is possible.
    """
    names = chosen_analyses(only, caption_analyses.NAMES)
    stored = [find_run(name).stored_run for name in runs]
    first, others = asyncio.run(read_answers(stored, partial=partial))
    analyses = caption_analyses.analyse(first, others, names, draws)
    sections = table_sections(analyses)
    return write_analyses(
        analyses, sections, "CaptionQA", "the stability of the ranking", html=html, json=json
    )


app.command("comprecap")(comprecap)
