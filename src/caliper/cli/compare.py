"""`caliper compare`: how much the figures of two runs differ, and what else differs."""

from __future__ import annotations

import asyncio
import json as json_module
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters.wording import number
from caliper.analysis.compare import Difference, Distinction
from caliper.analysis.significance import LEVEL
from caliper.cli.anchors import warn_of_drift
from caliper.cli.comparing import Anyway, refuse_unlike
from caliper.cli.console import OUT
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.cli.remote import InstalledServer, reports_there
from caliper.core.report import BenchmarkReport, Path, Report
from caliper.standalone.directory import find_run
from caliper.standalone.kept import Differences, compare_runs, read_run

_HELP = "A run directory, its name below runs/, or a run id; with --server a run id."
First = Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]
Second = Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]


def compare(
    first: First,
    second: Second,
    server: InstalledServer = None,
    anyway: Anyway = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Set two runs side by side: the difference of every figure, second minus first.

    Differences are paired on the same media; p is adjusted for looking at several dimensions.
    Runs that differ in more than their checkpoints (judge, prompts, settings, data) are refused
    unless they are to be compared --anyway.
    With --server the runs are those of an installation. It tells figures, not what each medium
    gave, so that nothing is paired and differences come without intervals.
    Exit code 3 when the runs have no benchmark in common.
    """
    if server is None:
        kept = [asyncio.run(read_run(find_run(name))) for name in (first, second)]
        before, after = (run.report for run in kept)
        differences = compare_runs(*kept)
        warn_of_drift((first, second))
    else:
        before, after = asyncio.run(reports_there((first, second), server))
        differences = _unpaired(before, after)
    differing = refuse_unlike(before, after, anyway=anyway)
    if json:
        sys.stdout.write(_told(before.name, after.name, differing, differences))
    elif not quiet:
        if differences:
            _show(before, after, differences)
        else:
            OUT.print("The runs have no benchmark in common: there is nothing to compare.")
    return Exit.DONE if differences else Exit.INCONCLUSIVE


def _unpaired(first: Report, second: Report) -> Differences:
    """The differences of the figures that two reports have in common."""
    known = {part.name: part.estimates for part in first.benchmarks}
    return {
        part.name: {
            path: _difference(known[part.name][path].value, found.value)
            for path, found in part.estimates.items()
            if path in known[part.name]
        }
        for part in second.benchmarks
        if part.name in known
    }


def _difference(before: float | None, after: float | None) -> Difference:
    value = None if before is None or after is None else after - before
    return Difference(before, after, value)


def _show(before: Report, after: Report, differences: Differences) -> None:
    """Each benchmark's first table, in the column that its chart draws; then the headlines."""
    names = (before.name, after.name)
    parts = [part for part in after.benchmarks if part.name in differences]
    headlines = [
        (f"{part.title} {' '.join(part.headline)}", differences[part.name][part.headline])
        for part in parts
    ]
    for part in parts:
        title, rows = _first_table(part, differences[part.name])
        OUT.print(_table(f"{part.title}: {title}", names, rows))
        OUT.print()
    OUT.print(_table("Headline figures", names, headlines))


def _first_table(
    part: BenchmarkReport, differences: Mapping[Path, Difference]
) -> tuple[str, list[tuple[str, Difference]]]:
    """Title and rows; an installation tells no tables: then every figure is a row."""
    if not part.tables:
        return "all figures", [(" ".join(path), found) for path, found in differences.items()]
    table = part.tables[0]
    column = table.chart or 0
    rows = [
        (row.label, differences[path])
        for row in table.rows
        if (path := row.cells[column]) is not None and path in differences
    ]
    return table.columns[column], rows


def _table(title: str, names: tuple[str, str], rows: list[tuple[str, Difference]]) -> Table:
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for name in (*map(escape, names), "difference", "95 % interval", "p", "media"):
        table.add_column(name, justify="right")
    for label, found in rows:
        clear = found.adjusted is not None and found.adjusted < LEVEL
        table.add_row(
            escape(label),
            number(found.first),
            number(found.second),
            f"[bold]{number(found.value)}[/bold]" if clear else number(found.value),
            _interval(found),
            _probability(found.adjusted),
            f"{found.paired:,}",
        )
    return table


def _interval(found: Difference) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"{number(found.low)} to {number(found.high)}"


def _probability(p: float | None) -> str:
    if p is None:
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _told(
    first: str,
    second: str,
    differing: tuple[Distinction, ...],
    differences: Differences,
) -> str:
    told = {
        "first": first,
        "second": second,
        "differs": [asdict(distinction) for distinction in differing],
        "figures": {
            name: {".".join(path): asdict(found) for path, found in figures.items()}
            for name, figures in differences.items()
        },
    }
    return json_module.dumps(told, indent=2, sort_keys=True) + "\n"
