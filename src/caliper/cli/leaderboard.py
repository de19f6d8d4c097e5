"""`caliper leaderboard`: many checkpoints in one table, as the papers print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters import wording
from caliper.adapters.exports.leaderboard import (
    leaderboard_csv,
    leaderboard_json,
    leaderboard_markdown,
)
from caliper.adapters.files import write_text
from caliper.adapters.pages.leaderboard import render_leaderboard
from caliper.analysis.compare import Difference
from caliper.analysis.leaderboard import (
    Board,
    Column,
    Standing,
    behind,
    headline_columns,
    metric_columns,
    rank,
)
from caliper.analysis.likeness import said
from caliper.benchmarks.registry import benchmark_names
from caliper.cli.comparison import Anyway, Partial
from caliper.cli.console import OUT, write_out
from caliper.cli.entrants import Entrants, entrants
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet, also_written
from caliper.cli.installation import InstalledServer
from caliper.cli.options import taking
from caliper.cli.show import shown
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
    """What can be said of a leaderboard."""

    runs: Runs = None
    server: InstalledServer = None
    benchmark: Benchmark = None
    metric: Metric = None
    csv: Annotated[Path | None, also_written("--csv", "it as CSV")] = None
    markdown: Annotated[Path | None, also_written("--markdown", "it as Markdown")] = None
    html: Annotated[Path | None, also_written("--html", "it as a page")] = None
    partial: Partial = False
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def leaderboard(wanted: LeaderboardOptions) -> int:
    """Read the runs, rank them, and show or write the boards."""
    if wanted.benchmark is not None and wanted.benchmark not in benchmark_names():
        raise UnknownName("benchmark", wanted.benchmark, benchmark_names())
    if wanted.metric is not None and wanted.benchmark is None:
        raise InvalidInput("needs --benchmark", field="--metric")
    entered = entrants(
        wanted.runs or (), wanted.server, ComparisonRequest(wanted.anyway, wanted.partial)
    )
    remarks = [tuple(map(said, differing)) for differing in entered.differing]
    boards = _filled(_boards(wanted, entered.reports), entered, remarks)
    _write(wanted, boards)
    if wanted.json:
        write_out(leaderboard_json(boards))
    elif not wanted.quiet:
        for board in boards:
            OUT.print(_table(board))
            OUT.print()
    return Exit.DONE if boards else Exit.INCONCLUSIVE


def _boards(wanted: LeaderboardOptions, reports: Sequence[Report]) -> list[Board]:
    """The headlines when there are several benchmarks, then a board a benchmark."""
    headlines = headline_columns(reports)
    names = [column.benchmark for column in headlines]
    if wanted.benchmark is not None:
        names = [name for name in names if name == wanted.benchmark]
    boards = []
    if len(names) > 1:
        over = _columns(headlines[0].benchmark, None, reports)
        boards.append(rank("Headline figures", headlines, 0, reports, over))
    for name in names:
        columns = _columns(name, wanted.metric, reports)
        by = _ranking(columns, next(one.path for one in headlines if one.benchmark == name))
        those = [report for report in reports if any(p.name == name for p in report.benchmarks)]
        title = next(p.title for p in those[0].benchmarks if p.name == name)
        metric = f", {wanted.metric}" if wanted.metric else ""
        boards.append(rank(f"{title}{metric}", columns, by, reports, columns))
    return boards


def _columns(name: str, metric: str | None, reports: Sequence[Report]) -> tuple[Column, ...]:
    """The union over the runs: one may have been limited to a few dimensions."""
    columns: dict[Column, None] = {}
    for part in (part for report in reports for part in report.benchmarks if part.name == name):
        try:
            columns.update(dict.fromkeys(metric_columns(part, metric)))
        except ValueError as error:
            raise InvalidInput(str(error), field="--metric") from error
    return tuple(columns)


def _ranking(columns: Sequence[Column], headline: tuple[str, ...]) -> int:
    """The headline's column; else that of its row, as for another metric; else its namesake's,
    for CaptionQA prints its overall score by both readings, the chosen one first.
    """
    paths = [column.path for column in columns]
    alike = (
        [path == headline for path in paths],
        [path[:-1] == headline[:-1] != () for path in paths],
        [path[0].startswith(headline[0]) for path in paths],
    )
    return next((found.index(True) for found in alike if any(found)), 0)


def _filled(
    boards: Sequence[Board], entered: Entrants, remarks: Sequence[tuple[str, ...]]
) -> list[Board]:
    """The boards with differences from the best row of each, and with remarks."""
    apart: dict[int, Mapping[int, Differences]] = {}
    found = []
    for board in boards:
        ranking, best = board.columns[board.by], board.standings[0].run
        if best not in apart:
            apart[best] = entered.apart(best)
        differences: dict[int, Difference | None] = {
            row.run: apart[best][row.run].get(ranking.benchmark, {}).get(ranking.path)
            for row in board.standings[1:]
        }
        told = tuple(replace(row, remarks=remarks[row.run]) for row in board.standings)
        found.append(behind(replace(board, standings=told), differences))
    return found


def _write(wanted: LeaderboardOptions, boards: Sequence[Board]) -> None:
    if wanted.csv is not None:
        write_text(wanted.csv, "\n".join(map(leaderboard_csv, boards)))
    if wanted.markdown is not None:
        write_text(wanted.markdown, "\n".join(map(leaderboard_markdown, boards)))
    if wanted.html is not None:
        write_text(wanted.html, render_leaderboard(boards))


def _table(board: Board) -> Table:
    """Checkpoints down and figures across, or turned when there are more figures."""
    heads = [*(escape(column.label) for column in board.columns), "behind the best"]
    names = [_named(row) for row in board.standings]
    cells = [_cells(board, row) for row in board.standings]
    if len(heads) > len(names):
        heads, names, cells = names, heads, [list(line) for line in zip(*cells, strict=True)]
    grid = Table(title=escape(board.title), title_justify="left", box=None, pad_edge=False)
    grid.add_column("")
    for head in heads:
        grid.add_column(head, justify="right")
    for name, line in zip(names, cells, strict=True):
        grid.add_row(name, *line)
    return grid


def _named(row: Standing) -> str:
    told = wording.standing(row)
    return f"{row.place}. {escape(row.name)}" + (
        f" [yellow]{escape(told)}[/yellow]" if told else ""
    )


def _cells(board: Board, row: Standing) -> list[str]:
    ranked = enumerate(row.estimates)
    figures = (shown(estimate, interval=place == board.by) for place, estimate in ranked)
    return [*figures, wording.behind(row)]


command = taking(leaderboard, LeaderboardOptions, help_text=HELP)
