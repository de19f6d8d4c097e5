"""`caliper analyze`: the analyses of a benchmark's paper, over the answers of several runs."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from caliper.adapters.captionqa_tables import TextTable, table_sections
from caliper.adapters.files import write_text
from caliper.adapters.pages.captionqa_analyses import render_analyses
from caliper.analysis.captionqa.analyses import NAMES, CaptionAnalyses, analyse
from caliper.analysis.captionqa.ranking_stability import DRAWS
from caliper.cli.comparison import Partial
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, output_file
from caliper.core.errors import UnknownName
from caliper.local.directory import find_run
from caliper.pipeline.comparing.question_answers import read_answers

app = typer.Typer(help="The analyses of a benchmark's paper.", no_args_is_help=True)

Runs = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Run directories, names below runs/, or run ids."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME", help=f"Only this one: {', '.join(NAMES)}; repeatable."),
]
Draws = Annotated[
    int,
    typer.Option(
        "--draws", min=1, max=10_000, help="Draws per size for the stability of the ranking."
    ),
]
Page = Annotated[Path | None, output_file("--html", "them as a page")]


@app.callback()
def _group() -> None:
    """The analyses of a benchmark's paper."""


@app.command("captionqa")
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
    for name in only or ():
        if name not in NAMES:
            raise UnknownName("analysis", name, NAMES)
    stored = [find_run(name).stored_run for name in runs]
    answers = asyncio.run(read_answers(stored, partial=partial))
    analyses = analyse(answers.first, answers.others, only or NAMES, draws)
    if html is not None:
        write_text(html, render_analyses(analyses))
    if json:
        write_json(asdict(analyses))
    else:
        _show(analyses)
    return (
        Exit.DONE
        if any(section.tables for section in table_sections(analyses))
        else Exit.INCONCLUSIVE
    )


def _show(analyses: CaptionAnalyses) -> None:
    for section in table_sections(analyses):
        if section.remark:
            OUT.print(
                f"[yellow]{plain(f'{section.title}: {section.remark}')}[/yellow]", soft_wrap=True
            )
        for table in section.tables:
            OUT.print(_table(f"{section.title}: {table.title}", table))
            if table.note:
                OUT.print(plain(table.note), soft_wrap=True, highlight=False)
            OUT.print()


def _table(title: str, table: TextTable) -> Table:
    grid = Table(title=plain(title), title_justify="left", box=None, pad_edge=False)
    for place, head in enumerate(table.heads):
        grid.add_column(plain(head), justify="right" if place else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*map(plain, row))
    return grid
