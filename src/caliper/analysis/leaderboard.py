"""Leaderboards: many checkpoints in one table, one row each, as the papers print them.

The best comes first. The paired difference from the best (see `compare`) shows how far another
one is behind: two overlapping intervals do not mean that two checkpoints are alike.

The best is chosen from the same data, and the first of many was also lucky. So chance could have
picked any pair of rows, and each difference is adjusted for the number of all pairs. Among equal
checkpoints, the chance of any clear row is then at most the significance level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb

from caliper.analysis.compare import Difference
from caliper.analysis.significance import LEVEL, bonferroni
from caliper.benchmarks.base import Better
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.report import BenchmarkReport, Estimate, Path, Report, Table
from caliper.core.run import COVERAGE_FLOOR

_NO_DATA = Estimate(None)


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of a benchmark and its heading."""

    benchmark: str
    label: str
    path: Path


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One checkpoint's row: one figure per column. `place` is its rank, from 1.

    `behind` is the difference from the best in the ranking column (None for the best, and if
    nothing is paired). `clear`: it is significant, adjusted over all pairs of rows. `remarks` say
    how the run differs from the first one named. `lacking` are the dimensions, such as tasks, for
    which another row has a figure and this one does not, or how much of them this one has no scores
    of: an average over fewer dimensions or questions is not ranked among those over all. `stuffed`:
    captions of a benchmark on the board list everything (`Suspicious.stuffing`).
    """

    run: int
    name: str
    place: int
    estimates: tuple[Estimate, ...]
    coverage: float
    partial: bool
    behind: Difference | None = None
    clear: bool = False
    remarks: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    stuffed: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """A ranking by `columns[by]`, best first: complete runs, then partial ones, then those that
    lack dimensions of others, then those without data.
    """

    title: str
    columns: tuple[Column, ...]
    by: int
    standings: tuple[LeaderboardRow, ...]


def headline_columns(reports: Iterable[Report]) -> tuple[Column, ...]:
    """The headline figure of every benchmark in any of the runs."""
    parts: dict[str, BenchmarkReport] = {}
    for report in reports:
        for part in report.benchmarks:
            parts.setdefault(part.name, part)
    return tuple(Column(name, part.title, part.headline) for name, part in parts.items())


def metric_columns(part: BenchmarkReport, metric: str | None = None) -> tuple[Column, ...]:
    """The rows of the benchmark's first table with `metric`, turned into columns.

    That is the form of CAPability's Tables 3 to 5, CaptionQA's Table 3 and CompreCap's Table 2.
    The default metric is the one that the first table charts. Raises InvalidInput naming the
    available metrics.
    """
    by_metric: dict[str, tuple[Table, int]] = {}
    for each in part.tables:
        for number, head in enumerate(each.columns):
            by_metric.setdefault(_plain(head), (each, number))
    if metric is not None and _plain(metric) not in by_metric:
        names = ", ".join(by_metric)
        raise InvalidInput(f"no metric {metric}; there are: {names}", field="--metric")
    first = (part.tables[0], part.tables[0].chart or 0)
    table, place = first if metric is None else by_metric[_plain(metric)]
    return tuple(
        Column(part.name, row.label, path)
        for row in table.rows
        if place < len(row.cells) and (path := row.cells[place]) is not None
    )


def all_columns(
    reports: Iterable[Report], metric: str | None, name: str | None = None
) -> tuple[Column, ...]:
    """The `metric_columns` of all runs, of one benchmark or of all: a run may lack dimensions."""
    parts = (part for report in reports for part in report.benchmarks if name in (None, part.name))
    return tuple(dict.fromkeys(column for part in parts for column in metric_columns(part, metric)))


def _plain(text: str) -> str:
    return text.lower().replace(" ", "_")


def rank(
    title: str,
    columns: Sequence[Column],
    by: int,
    reports: Sequence[Report],
    dimensions: Sequence[Column] = (),
) -> Board:
    """Rank the runs by a column, best first; equal values share a place. `dimensions` are the
    columns that this column may average.
    """
    less = benchmark(columns[by].benchmark).direction(columns[by].path) is Better.LESS
    lacking = _lacking(reports, dimensions)
    benchmarks = {column.benchmark for column in columns}
    rows = [
        LeaderboardRow(
            run,
            report.name,
            0,
            _figures(report, columns),
            report.share,
            report.partial,
            lacking=lacking[run],
            stuffed=any(
                part.suspicious.stuffing for part in report.benchmarks if part.name in benchmarks
            ),
        )
        for run, report in enumerate(reports)
    ]
    keys = {row.run: _sort_key(row, row.estimates[by].value, less=less) for row in rows}
    rows.sort(key=lambda row: keys[row.run])
    ordered = [keys[row.run] for row in rows]
    placed = [replace(row, place=1 + ordered.index(keys[row.run])) for row in rows]
    return Board(title, tuple(columns), by, tuple(placed))


def _lacking(reports: Sequence[Report], dimensions: Sequence[Column]) -> list[tuple[str, ...]]:
    """Per run, the labels of columns for which it has no figure but another run does, or of a
    complete run the missing share of columns or benchmarks of which it has too few scores.
    """
    rows = [_figures(report, dimensions) for report in reports]
    available = [any(one.value is not None for one in column) for column in zip(*rows, strict=True)]
    short = _short(reports, dimensions)
    return [
        tuple(
            column.label
            for column, one, some in zip(dimensions, row, available, strict=False)
            if some and one.value is None
        )
        + (() if report.partial else missing)
        for report, row, missing in zip(reports, rows, short, strict=True)
    ]


def _short(reports: Sequence[Report], dimensions: Sequence[Column]) -> list[tuple[str, ...]]:
    """Per run, the share of each benchmark's questions that it has no score of, compared with the
    run that has most, if a complete run must not lack so many; if there is none, of each column's.
    """
    names = {column.benchmark for column in dimensions}
    whole = [
        {part.title: part.coverage.share for part in report.benchmarks if part.name in names}
        for report in reports
    ]
    columns = [dict(_scored_shares(report, dimensions)) for report in reports]
    pairs = zip(_missing(whole), _missing(columns), strict=True)
    return [missing or parts for missing, parts in pairs]


def _scored_shares(report: Report, dimensions: Sequence[Column]) -> Iterator[tuple[str, float]]:
    """The share of questions with a score, by label, of columns with counts of their own."""
    for column in dimensions:
        counts = [
            replace(column, path=(*column.path[:-1], name)) for name in ("n_scored", "n_unscored")
        ]
        scored, unscored = (each.value for each in _figures(report, counts))
        if scored and unscored is not None:
            yield column.label, scored / (scored + unscored)


def _missing(runs: Sequence[Mapping[str, float]]) -> list[tuple[str, ...]]:
    most = {name: max(run.get(name, 0.0) for run in runs) for run in runs for name in run}
    return [
        tuple(
            f"{1 - share / most[name]:.1%} of {name}"
            for name, share in run.items()
            if share < COVERAGE_FLOOR * most[name]
        )
        for run in runs
    ]


def _figures(report: Report, columns: Sequence[Column]) -> tuple[Estimate, ...]:
    parts = {part.name: part.estimates for part in report.benchmarks}
    return tuple(parts.get(column.benchmark, {}).get(column.path, _NO_DATA) for column in columns)


def _sort_key(
    row: LeaderboardRow, value: float | None, *, less: bool
) -> tuple[bool, bool, bool, float]:
    number = value or 0.0
    return (value is None, bool(row.lacking), row.partial, number if less else -number)


def add_differences(board: Board, differences: Mapping[int, Difference | None]) -> Board:
    """Add to each row its difference from the best, by run; adjusted over all pairs of rows with a
    figure in the ranking column.

    The best and a row are a pair that was picked from the data. Whichever it is, it is one of
    k(k - 1) / 2 pairs. Bonferroni's inequality bounds the chance that any of these is falsely
    called different, or in the wrong direction, however the tests are correlated; only the pairs
    that are shown need testing. Source: Dunn, Multiple comparisons among means (Journal of the
    American Statistical Association 56, 1961). A step-down procedure over the rows (Holm) would
    lower the last factor by at most k - 2, and guarantees nothing about the direction.
    """
    ranked = sum(row.estimates[board.by].value is not None for row in board.standings)
    by_row = [differences.get(row.run) for row in board.standings]
    adjusted = [bonferroni(None if one is None else one.p, comb(ranked, 2)) for one in by_row]
    rows = (
        replace(
            row,
            behind=None if one is None else replace(one, adjusted=p),
            clear=p is not None and p < LEVEL,
        )
        for row, one, p in zip(board.standings, by_row, adjusted, strict=True)
    )
    return replace(board, standings=tuple(rows))
