"""`caliper report`: shows the report of a run and rewrites its files."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from caliper.adapters.exports.json import report_text
from caliper.adapters.phrases import state
from caliper.cli.console import OUT, write_out, write_reason
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.cli.installation import InstalledServer
from caliper.cli.options import OutputOptions
from caliper.cli.run_arguments import Run
from caliper.cli.show import show_place, show_report
from caliper.core.errors import InvalidInput, RunInUse
from caliper.core.report import Report
from caliper.lazy import lazy_module
from caliper.local.directory import RunDirectory, find_run
from caliper.local.reports import read_report, write_report

if TYPE_CHECKING:
    from caliper.cli import remote
else:
    remote = lazy_module("caliper.cli.remote")

Out = Annotated[
    Path | None, typer.Option("--out", help="With --server: folder to write the report files to.")
]


def report(
    run: Run,
    server: InstalledServer = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Show a run's report and rewrite its files from the plan and the verdicts.

    No model is called. The report of an unfinished run is partial: exit code 1. While another
    process works on the run, no file is written. With --server
    the run is one of an installation; --out names the folder for its files.
    """
    if server is not None:
        return asyncio.run(
            remote.report_remotely(run, server, out, OutputOptions(json=json, quiet=quiet))
        )
    if out is not None:
        raise InvalidInput("a local run's files stay in its directory", field="--out")
    directory = find_run(run)
    result, written = asyncio.run(_reported(directory))
    if json:
        write_out(report_text(result))
    elif not quiet:
        show_report(result, OUT)
        if written:
            show_place(directory.path / "report.html", OUT)
    elif result.partial:
        write_reason(state(result))
    return Exit.NO if result.partial else Exit.DONE


async def _reported(directory: RunDirectory) -> tuple[Report, bool]:
    """The report of a run, and whether its files were written."""
    try:
        # Without the claim, a run that ends meanwhile would keep the report of before.
        with directory.claim(directory.read_spec()):
            return await write_report(directory), True
    except RunInUse:
        write_reason("Another process is working on this run: its files stay as they are.")
        return replace(await read_report(directory), reuse=directory.reuse), False
