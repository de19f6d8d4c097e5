"""`caliper analyze captionqa`: the analyses of the CaptionQA paper, over stored runs."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from caliper.adapters.captionqa_tables import table_sections
from caliper.analysis.captionqa.analyses import NAMES, analyse
from caliper.analysis.captionqa.ranking_stability import DRAWS
from caliper.cli.analyses import (
    Page,
    Runs,
    chosen_analyses,
    only_option,
    write_analyses,
)
from caliper.cli.comparison import Partial
from caliper.cli.flags import Json
from caliper.local.directory import find_run
from caliper.pipeline.comparing.question_answers import read_answers

Only = Annotated[list[str] | None, only_option(NAMES)]
Draws = Annotated[
    int,
    typer.Option(
        "--draws", min=1, max=10_000, help="Draws per size for the stability of the ranking."
    ),
]


def captionqa(
    runs: Runs,
    only: Only = None,
    draws: Draws = DRAWS,
    html: Page = None,
    partial: Partial = False,
    json: Json = False,
) -> int:
    """Analyse the answers of several runs of CaptionQA.

    difficulty: easy, medium and hard questions; stability: the ranking with fewer questions, other
    readers and other orders of the options; gap: QA on the image minus QA on the caption; prompts:
    what caption prompts gain and lose; errors: coverage, accuracy and kinds of errors. A model is a
    run's label. Runs whose setup differs from the first serve the stability of the ranking only.
    Exit code 3: the runs allow none of the chosen analyses.
    """
    names = chosen_analyses(only, NAMES)
    stored = [find_run(name).stored_run for name in runs]
    first, others = asyncio.run(read_answers(stored, partial=partial))
    analyses = analyse(first, others, names, draws)
    sections = table_sections(analyses)
    return write_analyses(
        analyses, sections, "CaptionQA", "the stability of the ranking", html=html, json=json
    )
