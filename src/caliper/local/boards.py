"""Ranks the runs of a leaderboard in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from caliper.analysis.comparability import describe
from caliper.analysis.compare import Difference
from caliper.analysis.leaderboard import (
    Board,
    Column,
    add_differences,
    all_columns,
    headline_columns,
    rank,
)
from caliper.benchmarks.registry import benchmark_names
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.report import Report
from caliper.local.entrants import Entrants
from caliper.pipeline.comparing.comparison import Differences


def check_columns(benchmark: str | None, metric: str | None) -> None:
    """Raise UnknownName for an unknown benchmark, InvalidInput for a metric without one."""
    if benchmark is not None and benchmark not in benchmark_names():
        raise UnknownName("benchmark", benchmark, benchmark_names())
    if metric is not None and benchmark is None:
        raise InvalidInput("a metric is one of a benchmark", field="metric")


async def boards_of(
    competitors: Entrants, benchmark: str | None = None, metric: str | None = None
) -> list[Board]:
    """One board per benchmark, or that of `benchmark` by `metric`, after a board of headlines if
    there are several. Raises what `Entrants.differences_from` raises.
    """
    return await _with_differences(_boards(competitors.reports, benchmark, metric), competitors)


def _boards(reports: Sequence[Report], benchmark: str | None, metric: str | None) -> list[Board]:
    headlines = headline_columns(reports)
    names = [column.benchmark for column in headlines]
    if benchmark is not None:
        names = [name for name in names if name == benchmark]
    boards = []
    if len(names) > 1:
        over = all_columns(reports, None, headlines[0].benchmark)
        boards.append(rank("Headline figures", headlines, 0, reports, over))
    for name in names:
        columns = all_columns(reports, metric, name)
        by = _ranking(columns, next(one.path for one in headlines if one.benchmark == name))
        entered = [report for report in reports if any(p.name == name for p in report.benchmarks)]
        title = next(p.title for p in entered[0].benchmarks if p.name == name)
        suffix = f", {metric}" if metric else ""
        boards.append(rank(f"{title}{suffix}", columns, by, reports, columns))
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


async def _with_differences(boards: Sequence[Board], competitors: Entrants) -> list[Board]:
    """Add the differences from the best row, and how each run differs, to each board."""
    remarks = [tuple(map(describe, differing)) for differing in competitors.setup_differences]
    apart: dict[int, Mapping[int, Differences]] = {}
    filled = []
    for board in boards:
        ranking, best = board.columns[board.by], board.standings[0].run
        if best not in apart:
            apart[best] = await competitors.differences_from(best)
        differences: dict[int, Difference | None] = {
            row.run: apart[best][row.run].get(ranking.benchmark, {}).get(ranking.path)
            for row in board.standings[1:]
        }
        standings = tuple(replace(row, remarks=remarks[row.run]) for row in board.standings)
        filled.append(add_differences(replace(board, standings=standings), differences))
    return filled
