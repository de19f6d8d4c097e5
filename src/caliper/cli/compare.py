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

from caliper.analysis.compare import Difference, Distinction, distinctions
from caliper.cli.console import OUT
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.core.report import Path
from caliper.standalone.directory import find_run
from caliper.standalone.kept import compare_runs, read_run

_HELP = "A run directory, its name below runs/, or a run id."
First = Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]
Second = Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]
OF_THE_CHECKPOINT = ("name", "captions", "fingerprint", "replicate")
"""What of a spec is expected to differ between two checkpoints."""


def compare(first: First, second: Second, json: Json = False, quiet: Quiet = False) -> int:
    """Set two runs side by side: the difference of every figure, second minus first.

    Differences are paired on the same media. Whatever else differs between the runs (judge,
    prompts, settings, data) is said first: then they do not tell two checkpoints apart.
    Exit code 3 when the runs have no benchmark in common.
    """
    runs = [asyncio.run(read_run(find_run(name))) for name in (first, second)]
    before, after = runs
    differing = distinctions(before.report, after.report, ignored=OF_THE_CHECKPOINT)
    differences = compare_runs(before, after)
    if json:
        sys.stdout.write(_told(before.spec.name, after.spec.name, differing, differences))
    elif not quiet:
        for distinction in differing:
            OUT.print(f"[yellow]Differs:[/yellow] {escape(_said(distinction))}", soft_wrap=True)
        for title, figures in differences.items():
            OUT.print(_table(title, before.spec.name, after.spec.name, figures))
    return Exit.DONE if differences else Exit.INCONCLUSIVE


def _said(found: Distinction) -> str:
    where = f"{found.benchmark} " if found.benchmark else ""
    return f"{where}{found.kind} {found.name}: {found.first} / {found.second}"


def _table(title: str, first: str, second: str, figures: dict[Path, Difference]) -> Table:
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for name in (escape(first), escape(second), "difference", "95 % interval", "paired"):
        table.add_column(name, justify="right")
    for path, found in figures.items():
        if found.value is None or found.low is None or found.high is None:
            continue
        clear = "bold" if found.low > 0 or found.high < 0 else "dim"
        table.add_row(
            " ".join(path),
            f"{found.first:.2f}",
            f"{found.second:.2f}",
            f"[{clear}]{found.value:+.2f}[/{clear}]",
            f"{found.low:+.1f} to {found.high:+.1f}",
            f"{found.paired} of {found.clusters}",
        )
    return table


def _told(
    first: str,
    second: str,
    differing: tuple[Distinction, ...],
    differences: dict[str, dict[Path, Difference]],
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
