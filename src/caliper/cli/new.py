"""`caliper new benchmark`: writes the package of a new benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from caliper.cli.console import OUT, plain
from caliper.cli.exits import Exit
from caliper.local.new_benchmark import write_benchmark

Name = Annotated[str, typer.Argument(metavar="NAME", help="The benchmark's name.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The folder to write. Default: NAME."),
]

app = typer.Typer(help="Start a benchmark of your own.", no_args_is_help=True)


# A group with one command would otherwise be that command.
@app.callback()
def _group() -> None:
    pass


@app.command("benchmark")
def benchmark(name: Name, out: Out = None) -> int:
    """Write the package of a benchmark that works, and its test."""
    folder = out or Path(name)
    write_benchmark(name, folder)
    OUT.print(f"{plain(str(folder))} written; its README.md says how to run it.", soft_wrap=True)
    return Exit.DONE
