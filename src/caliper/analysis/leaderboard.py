"""Many checkpoints in one table, as the papers print them: a row a checkpoint.

The best comes first. How far another one is behind is told by the paired difference from the
best (see `compare`), for two intervals that overlap do not say that two checkpoints are alike.

The best is chosen by the same data, and whoever comes out first of many has had luck as well. So
each of these differences is one of all pairs of rows that chance could have put there, and is
adjusted for that many. Of equal checkpoints a row is then clear at most as often as the level says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb

from caliper.analysis.compare import Difference
from caliper.analysis.significance import LEVEL, bonferroni
from caliper.benchmarks.base import Better
from caliper.benchmarks.registry import benchmark
from caliper.core.report import BenchmarkReport, Estimate, Path, Report, Table, TableRow

_NO_DATA = Estimate(None)


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of a benchmark and its heading."""

    benchmark: str
    label: str
    path: Path


@dataclass(frozen=True, slots=True)
class Standing:
    """One checkpoint's row: a figure a column. `place` is that among the rows, from 1.

    `behind` is the difference from the best in the ranking column (None for the best, and
    where nothing is paired). `clear` says that it is more than chance, adjusted over all pairs of
    rows. `remarks` tell in what the run differs from the first that was named. `lacking` are the
    dimensions, such as tasks, of which this run has no figure and another row has: an average over
    the others is not ranked among those over all. `stuffed` says that captions of a benchmark of
    the board list everything (`Suspicious.stuffing`).
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
    """Rows in the order of `columns[by]`, best first: complete runs, then partial ones, then those
    that lack dimensions of others, then those without data.
    """

    title: str
    columns: tuple[Column, ...]
    by: int
    standings: tuple[Standing, ...]


def headline_columns(reports: Iterable[Report]) -> tuple[Column, ...]:
    """The headline figure of every benchmark that any of the runs evaluated."""
    parts: dict[str, BenchmarkReport] = {}
    for report in reports:
        for part in report.benchmarks:
            parts.setdefault(part.name, part)
    return tuple(Column(name, part.title, part.headline) for name, part in parts.items())


def metric_columns(part: BenchmarkReport, metric: str | None = None) -> tuple[Column, ...]:
    """The rows of the benchmark's first table that has `metric`, turned into columns.

    That is the form of CAPability's Tables 3 to 5, CaptionQA's Table 3 and CompreCap's
    Table 2. Without a metric it is the one that the first table charts. Raises ValueError
    naming the metrics there are.
    """
    known: dict[str, tuple[Table, int]] = {}
    for each in part.tables:
        for number, head in enumerate(each.columns):
            known.setdefault(_plain(head), (each, number))
    if metric is not None and _plain(metric) not in known:
        raise ValueError(f"no metric {metric}; there are: {', '.join(known)}")
    first = (part.tables[0], part.tables[0].chart or 0)
    table, place = first if metric is None else known[_plain(metric)]
    return tuple(
        Column(part.name, row.label, path)
        for row in table.rows
        if (path := _at(row, place)) is not None
    )


def _plain(text: str) -> str:
    return text.lower().replace(" ", "_")


def _at(row: TableRow, place: int) -> Path | None:
    return row.cells[place] if place < len(row.cells) else None


def rank(
    title: str,
    columns: Sequence[Column],
    by: int,
    reports: Sequence[Report],
    dimensions: Sequence[Column] = (),
) -> Board:
    """The runs in the order of a column, the best first; equal values share a place. `dimensions`
    are the columns over which that column may be taken.
    """
    less = benchmark(columns[by].benchmark).direction(columns[by].path) is Better.LESS
    lacking = _lacking(reports, dimensions)
    shown = {column.benchmark for column in columns}
    rows = [
        Standing(
            run,
            report.name,
            0,
            _figures(report, columns),
            report.share,
            report.partial,
            lacking=lacking[run],
            stuffed=any(
                part.suspicious.stuffing for part in report.benchmarks if part.name in shown
            ),
        )
        for run, report in enumerate(reports)
    ]
    keys = {row.run: _order(row, row.estimates[by].value, less=less) for row in rows}
    rows.sort(key=lambda row: keys[row.run])
    ordered = [keys[row.run] for row in rows]
    placed = [replace(row, place=1 + ordered.index(keys[row.run])) for row in rows]
    return Board(title, tuple(columns), by, tuple(placed))


def _lacking(reports: Sequence[Report], dimensions: Sequence[Column]) -> list[tuple[str, ...]]:
    """The labels of those columns of which a run has no figure and another has."""
    rows = [_figures(report, dimensions) for report in reports]
    known = [any(one.value is not None for one in column) for column in zip(*rows, strict=True)]
    return [
        tuple(
            column.label
            for column, one, some in zip(dimensions, row, known, strict=False)
            if some and one.value is None
        )
        for row in rows
    ]


def _figures(report: Report, columns: Sequence[Column]) -> tuple[Estimate, ...]:
    parts = {part.name: part.estimates for part in report.benchmarks}
    return tuple(parts.get(column.benchmark, {}).get(column.path, _NO_DATA) for column in columns)


def _order(row: Standing, value: float | None, *, less: bool) -> tuple[bool, bool, bool, float]:
    known = value or 0.0
    return (value is None, bool(row.lacking), row.partial, known if less else -known)


def behind(board: Board, differences: Mapping[int, Difference | None]) -> Board:
    """The board with each row's difference from the best, by run; adjusted over all pairs of rows
    that have a figure in the ranking column.

    The best and a row are a pair that was picked for what the data say. Whichever it is, it is one
    of k(k - 1) / 2 pairs, and that any of those is called different by chance, or the wrong way
    round, is bounded by Bonferroni's inequality, however the tests hang together; only the pairs
    that are shown need testing. Source: Dunn, Multiple comparisons among means (Journal of the
    American Statistical Association 56, 1961). A step-down over the rows (Holm) would lower the
    factor of the last by k - 2 at the most, and promises nothing about which of two is the better.
    """
    ranked = sum(row.estimates[board.by].value is not None for row in board.standings)
    found = [differences.get(row.run) for row in board.standings]
    adjusted = [bonferroni(None if one is None else one.p, comb(ranked, 2)) for one in found]
    rows = (
        replace(
            row,
            behind=None if one is None else replace(one, adjusted=p),
            clear=p is not None and p < LEVEL,
        )
        for row, one, p in zip(board.standings, found, adjusted, strict=True)
    )
    return replace(board, standings=tuple(rows))
