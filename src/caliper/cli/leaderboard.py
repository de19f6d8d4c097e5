"""`caliper leaderboard`: ranks checkpoints in tables like those of the papers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters import phrases
from caliper.adapters.exports.leaderboard import (
    leaderboard_csv,
    leaderboard_json,
    leaderboard_markdown,
)
from caliper.adapters.files import write_text
from caliper.adapters.pages.leaderboard import render_leaderboard
from caliper.analysis.leaderboard import Board, LeaderboardRow
from caliper.benchmarks.registry import benchmark_names
from caliper.cli.comparison import Anyway, Partial, warn_of_distinctions
from caliper.cli.console import OUT, write_out
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Page, Quiet, output_file
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.cli.run_arguments import AnyRuns
from caliper.cli.show import format_estimate
from caliper.cli.tables import text_table
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.errors import InvalidInput
from caliper.local.boards import boards_of, check_columns
from caliper.local.entrants import entrants
from caliper.pipeline.comparing.comparison import ComparisonRequest

HELP = """Rank checkpoints: one table per benchmark, best first.

Without RUN, all runs below runs/ that have a report. The columns are those of the papers:
CAPability's 13 tasks and their average, CaptionQA's domains, CompreCap's metrics. The distance to
the best is paired on the same media, with a 95% interval; "not clear" means not statistically
significant. Runs whose judge, prompts, settings or data differ from the first need --anyway and
are labelled. Incomplete runs need --partial and come after complete ones; those that lack tasks,
domains or scores last. With --server, name the installation's runs.
"""
Benchmark = Annotated[
    str | None, typer.Option("--benchmark", help=f"Only this one: {', '.join(benchmark_names())}.")
]
Metric = Annotated[
    str | None,
    typer.Option("--metric", help="The metric of --benchmark's table, such as precision."),
]


@dataclass(frozen=True, slots=True)
class LeaderboardOptions:
    """The arguments and options of `leaderboard`."""

    runs: AnyRuns = None
    server: InstalledServer = None
    benchmark: Benchmark = None
    metric: Metric = None
    csv: Annotated[Path | None, output_file("--csv", "it as CSV")] = None
    markdown: Annotated[Path | None, output_file("--markdown", "it as Markdown")] = None
    html: Page = None
    partial: Partial = False
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def leaderboard(options: LeaderboardOptions) -> int:
    """Read the runs, rank them, and show or write the boards."""
    if options.metric is not None and options.benchmark is None:
        raise InvalidInput("needs --benchmark", field="--metric")
    boards = asyncio.run(_rank(options))
    _write(options, boards)
    if options.json:
        write_out(leaderboard_json(boards))
    elif not options.quiet:
        for board in boards:
            OUT.print(_table(board))
            OUT.print()
    return Exit.DONE if boards else Exit.INCONCLUSIVE


async def _rank(options: LeaderboardOptions) -> list[Board]:
    check_columns(options.benchmark, options.metric)
    request = ComparisonRequest(options.anyway, options.partial)
    warn = WarningWatcher().on_warning
    competitors = await entrants(options.runs or (), options.server, request, warn)
    for differing in competitors.setup_differences:
        warn_of_distinctions(differing)
    return await boards_of(competitors, options.benchmark, options.metric)


def _write(options: LeaderboardOptions, boards: Sequence[Board]) -> None:
    if options.csv is not None:
        write_text(options.csv, "\n".join(map(leaderboard_csv, boards)))
    if options.markdown is not None:
        write_text(options.markdown, "\n".join(map(leaderboard_markdown, boards)))
    if options.html is not None:
        write_text(options.html, render_leaderboard(boards))


def _table(board: Board) -> Table:
    """One row per checkpoint, or transposed if there are more figures than checkpoints."""
    heads = [*(escape(column.label) for column in board.columns), "behind the best"]
    names = [_name_cell(row) for row in board.standings]
    cells = [_cells(board, row) for row in board.standings]
    if len(heads) > len(names):
        heads, names, cells = names, heads, [list(line) for line in zip(*cells, strict=True)]
    grid = text_table([""], heads, board.title)
    for name, line in zip(names, cells, strict=True):
        grid.add_row(name, *line)
    return grid


def _name_cell(row: LeaderboardRow) -> str:
    remark = phrases.exclusion(row)
    return f"{row.place}. {escape(row.name)}" + (
        f" [yellow]{escape(remark)}[/yellow]" if remark else ""
    )


def _cells(board: Board, row: LeaderboardRow) -> list[str]:
    ranked = enumerate(row.estimates)
    figures = (format_estimate(estimate, interval=place == board.by) for place, estimate in ranked)
    return [*figures, phrases.distance_to_best(row)]


command = command_taking(leaderboard, LeaderboardOptions, help_text=HELP)
