"""`caliper export`: puts the results of runs into sinks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from caliper.cli.console import ERR, OUT, plain
from caliper.cli.exits import Exit
from caliper.cli.flags import TARGET, Quiet
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.cli.run_arguments import Runs
from caliper.core.errors import CaliperError
from caliper.local.directory import find_run
from caliper.local.exports import export, installed_results, local_results
from caliper.wiring.export_sinks import check_target, sink_names

To = Annotated[
    list[str],
    typer.Option(
        "--to",
        metavar=TARGET,
        help=f"A sink; repeatable: {', '.join(sink_names())}. See docs/report.md.",
    ),
]
Step = Annotated[
    int | None,
    typer.Option("--step", min=0, help="The training step. Default: the suite's."),
]
WithVerdicts = Annotated[
    bool,
    typer.Option("--with-verdicts", help="Also captions, verdicts and pictures."),
]
_HELP = """Put the results of runs into sinks: files, trackers.

Results that are exported again replace those of the same run.
"""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The arguments and options of `export`."""

    runs: Runs
    to: To
    step: Step = None
    with_verdicts: WithVerdicts = False
    server: InstalledServer = None
    quiet: Quiet = False


def put(options: ExportOptions) -> int:
    """Export every run to every sink, then raise the last failure, if there was one."""
    for target in options.to:
        check_target(target)
    asyncio.run(_put(options))
    return Exit.DONE


async def _put(options: ExportOptions) -> None:
    failure: CaliperError | None = None
    for run in options.runs:
        if options.server is None:
            results = await local_results(find_run(run))
        else:
            results = await installed_results(options.server, run)
        step = results.step if options.step is None else options.step
        results = replace(results, step=step, with_verdicts=options.with_verdicts)
        for target in options.to:
            try:
                place = await export(results, target)
            except CaliperError as error:
                if failure is not None:
                    ERR.print(f"[bold red]Error:[/bold red] {plain(str(failure))}", soft_wrap=True)
                failure = error
                continue
            if not options.quiet:
                line = f"{plain(results.report.name)}: {target.partition(':')[0]} {plain(place)}"
                OUT.print(line, soft_wrap=True, highlight=False)
    if failure is not None:
        raise failure


command = command_taking(put, ExportOptions, help_text=_HELP)
