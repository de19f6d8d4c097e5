"""`caliper report`: a kept run's report."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from caliper.adapters.exports.json import report_text
from caliper.cli.console import OUT
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.cli.show import show_place, show_report
from caliper.standalone.directory import find_run
from caliper.standalone.kept import read_run

Run = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run directory, its name below runs/, or a run id."),
]


def report(run: Run, json: Json = False, quiet: Quiet = False) -> int:
    """Show a run's report, and write its files anew from the plan and the journal.

    Nothing is asked of any model. Of a run that was cut short this is a partial report.
    """
    directory = find_run(run)
    kept = asyncio.run(read_run(directory, write=True))
    if json:
        sys.stdout.write(report_text(kept.report))
    elif not quiet:
        show_report(kept.report, OUT)
        show_place(directory.path / "report.html", OUT)
    return Exit.NO if kept.report.partial else Exit.DONE
