"""`caliper validate`: checks files before a run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.benchmarks.registry import benchmark_names
from caliper.cli.console import ERR, OUT, write_json, write_reason
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.cli.validation import validate as check
from caliper.core.errors import UnknownName

Checked = Annotated[
    Path,
    typer.Argument(metavar="PATH", help="A dataset, captions, a run directory or a run.yaml."),
]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="BENCHMARK", help="The benchmark. Default: by the content."),
]


def validate(path: Checked, name: As = None, json: Json = False, quiet: Quiet = False) -> int:
    """Check a dataset, captions, run or config file.

    Exit code 0: usable; 1: usable, but the rows shown would be Unscored, or the run is not
    complete; 2: not usable, with the reason.
    """
    if name is not None and name not in benchmark_names():
        raise UnknownName("benchmark", name, benchmark_names())
    result = check(path, name)
    if json:
        write_json(asdict(result))
    elif not quiet:
        OUT.print(escape(result.summary), highlight=False)
        for problem in result.problems:
            ERR.print(f"[yellow]{escape(problem)}[/yellow]", soft_wrap=True, highlight=False)
    elif result.problems:
        count = len(result.problems)
        problems = "1 problem" if count == 1 else f"{count:,} problems"
        write_reason(f"{problems}. The first: {result.problems[0]}")
    return Exit.NO if result.problems else Exit.DONE
