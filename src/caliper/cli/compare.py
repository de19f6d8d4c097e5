"""`caliper compare`: how much the figures of two runs differ, and what else differs."""

from __future__ import annotations

import asyncio
import json as json_module
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters.wording import number
from caliper.analysis.compare import Difference, Distinction, distinctions
from caliper.cli.console import OUT
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.standalone.directory import find_run
from caliper.standalone.kept import Differences, Kept, compare_runs, read_run

_HELP = "A run directory, its name below runs/, or a run id."
First = Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]
Second = Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]
OF_THE_CHECKPOINT = ("name", "captions", "replicate")
"""What of a spec is expected to differ between two checkpoints."""


def compare(first: First, second: Second, json: Json = False, quiet: Quiet = False) -> int:
    """Set two runs side by side: the difference of every figure, second minus first.

    Differences are paired on the same media. Whatever else differs between the runs (judge,
    prompts, settings, data) is said first: then they do not tell two checkpoints apart.
    Exit code 3 when the runs have no benchmark in common.
    """
    before, after = (asyncio.run(read_run(find_run(name))) for name in (first, second))
    differing = distinctions(before.report, after.report, ignored=OF_THE_CHECKPOINT)
    differences = compare_runs(before, after)
    if json:
        sys.stdout.write(_told(before.spec.name, after.spec.name, differing, differences))
    elif not quiet:
        for distinction in differing:
            OUT.print(f"[yellow]Differs:[/yellow] {escape(_said(distinction))}", soft_wrap=True)
        if differences:
            _show(before, after, differences)
        else:
            OUT.print("The runs have no benchmark in common: there is nothing to compare.")
    return Exit.DONE if differences else Exit.INCONCLUSIVE


def _said(found: Distinction) -> str:
    where = f"{found.benchmark} " if found.benchmark else ""
    return f"{where}{found.kind} {found.name}: {found.first} / {found.second}"


def _show(before: Kept, after: Kept, differences: Differences) -> None:
    """Each benchmark's first table, in the column that its chart draws; then the headlines."""
    names = (before.spec.name, after.spec.name)
    parts = [part for part in after.report.benchmarks if part.name in differences]
    headlines = [
        (f"{part.title} {' '.join(part.headline)}", differences[part.name][part.headline])
        for part in parts
    ]
    for part in parts:
        table = part.tables[0]
        column = table.chart or 0
        rows = [
            (row.label, differences[part.name][path])
            for row in table.rows
            if (path := row.cells[column]) in differences[part.name]
        ]
        OUT.print(_table(f"{part.title}: {table.columns[column]}", names, rows))
        OUT.print()
    OUT.print(_table("Headline figures", names, headlines))


def _table(title: str, names: tuple[str, str], rows: list[tuple[str, Difference]]) -> Table:
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for name in (*map(escape, names), "difference", "95 % interval", "media"):
        table.add_column(name, justify="right")
    for label, found in rows:
        clear = found.low is not None and found.high is not None and found.low * found.high > 0
        table.add_row(
            escape(label),
            number(found.first),
            number(found.second),
            f"[bold]{number(found.value)}[/bold]" if clear else number(found.value),
            _interval(found),
            f"{found.paired:,}",
        )
    return table


def _interval(found: Difference) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"{number(found.low)} to {number(found.high)}"


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
