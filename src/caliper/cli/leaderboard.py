"""`caliper leaderboard`: ranks checkpoints in tables like those of the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from caliper.analysis.comparability import describe
from caliper.analysis.compare import Difference
from caliper.analysis.leaderboard import (
    Board,
    Column,
    Standing,
    add_differences,
    all_columns,
    headline_columns,
    rank,
)
from caliper.benchmarks.registry import benchmark_names
from caliper.cli.comparison import Anyway, Partial
from caliper.cli.console import OUT, write_out
from caliper.cli.entrants import Entrants, entrants
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet, output_file
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.cli.show import format_estimate
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.report import Report
from caliper.pipeline.comparing.comparison import ComparisonRequest, Differences

HELP = """Rank checkpoints: one table per benchmark, best first.

Without RUN, all runs below runs/ that have a report. The columns are those of the papers:
CAPability's 13 tasks and their average, CaptionQA's domains, CompreCap's metrics. The distance to
the best is paired on the same media, with a 95% interval; "not clear" means not statistically
significant. Runs whose judge, prompts, settings or data differ from the first need --anyway and
are labelled. Incomplete runs need --partial and come after complete ones; runs that lack a task or
domain come last. With --server, name the installation's runs.
"""
Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...",
        help="Run directories, names below runs/, or run ids; with --server run ids.",
    ),
]
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

    runs: Runs = None
    server: InstalledServer = None
    benchmark: Benchmark = None
    metric: Metric = None
    csv: Annotated[Path | None, output_file("--csv", "it as CSV")] = None
    markdown: Annotated[Path | None, output_file("--markdown", "it as Markdown")] = None
    html: Annotated[Path | None, output_file("--html", "it as a page")] = None
    partial: Partial = False
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def leaderboard(options: LeaderboardOptions) -> int:
    """Read the runs, rank them, and show or write the boards."""
    if options.benchmark is not None and options.benchmark not in benchmark_names():
        raise UnknownName("benchmark", options.benchmark, benchmark_names())
    if options.metric is not None and options.benchmark is None:
        raise InvalidInput("needs --benchmark", field="--metric")
    competitors = entrants(
        options.runs or (), options.server, ComparisonRequest(options.anyway, options.partial)
    )
    remarks = [tuple(map(describe, differing)) for differing in competitors.setup_differences]
    boards = _with_differences(_boards(options, competitors.reports), competitors, remarks)
    _write(options, boards)
    if options.json:
        write_out(leaderboard_json(boards))
    elif not options.quiet:
        for board in boards:
            OUT.print(_table(board))
            OUT.print()
    return Exit.DONE if boards else Exit.INCONCLUSIVE


def _boards(options: LeaderboardOptions, reports: Sequence[Report]) -> list[Board]:
    """One board per benchmark, after a board of headlines if there are several benchmarks."""
    headlines = headline_columns(reports)
    names = [column.benchmark for column in headlines]
    if options.benchmark is not None:
        names = [name for name in names if name == options.benchmark]
    boards = []
    if len(names) > 1:
        over = all_columns(reports, None, headlines[0].benchmark)
        boards.append(rank("Headline figures", headlines, 0, reports, over))
    for name in names:
        columns = all_columns(reports, options.metric, name)
        by = _ranking(columns, next(one.path for one in headlines if one.benchmark == name))
        entered = [report for report in reports if any(p.name == name for p in report.benchmarks)]
        title = next(p.title for p in entered[0].benchmarks if p.name == name)
        metric = f", {options.metric}" if options.metric else ""
        boards.append(rank(f"{title}{metric}", columns, by, reports, columns))
    return boards


def _ranking(columns: Sequence[Column], headline: tuple[str, ...]) -> int:
    """The index of the column to rank by: the headline's; else, for another metric, that of the
    headline's row; else the first with the headline's name, since CaptionQA prints its overall
    score under both readings, the chosen one first.
    """
    paths = [column.path for column in columns]
    candidates = (
        [path == headline for path in paths],
        [path[:-1] == headline[:-1] != () for path in paths],
        [path[0].startswith(headline[0]) for path in paths],
    )
    return next((matches.index(True) for matches in candidates if any(matches)), 0)


def _with_differences(
    boards: Sequence[Board], competitors: Entrants, remarks: Sequence[tuple[str, ...]]
) -> list[Board]:
    """Add the differences from the best row, and the remarks, to each board."""
    apart: dict[int, Mapping[int, Differences]] = {}
    filled = []
    for board in boards:
        ranking, best = board.columns[board.by], board.standings[0].run
        if best not in apart:
            apart[best] = competitors.differences_from(best)
        differences: dict[int, Difference | None] = {
            row.run: apart[best][row.run].get(ranking.benchmark, {}).get(ranking.path)
            for row in board.standings[1:]
        }
        standings = tuple(replace(row, remarks=remarks[row.run]) for row in board.standings)
        filled.append(add_differences(replace(board, standings=standings), differences))
    return filled


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


def _name_cell(row: Standing) -> str:
    remark = phrases.exclusion(row)
    return f"{row.place}. {escape(row.name)}" + (
        f" [yellow]{escape(remark)}[/yellow]" if remark else ""
    )


def _cells(board: Board, row: Standing) -> list[str]:
    ranked = enumerate(row.estimates)
    figures = (format_estimate(estimate, interval=place == board.by) for place, estimate in ranked)
    return [*figures, phrases.distance_to_best(row)]


command = command_taking(leaderboard, LeaderboardOptions, help_text=HELP)
