"""Evaluates, lists, watches and cancels runs of an installation through its gateway."""

from __future__ import annotations

import asyncio
import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from caliper.adapters.phrases import already_ended, number, remarks, state
from caliper.cli.console import ERR, OUT, plain, write_json, write_out, write_reason
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.cli.installation import Server
from caliper.cli.options import OutputOptions
from caliper.cli.show import show_gaps, show_notes, show_reuse, with_execution
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.errors import BackendTimeout, BackendUnavailable, NotReady
from caliper.core.report import Report
from caliper.core.run import REPORTED_STATES, WHOLE_STATES, RunState
from caliper.lazy import lazy_module
from caliper.local.config import RunConfig
from caliper.local.exports import export_installed
from caliper.local.installation import ask_gateway, open_gateway
from caliper.local.report_folder import ReportFolder
from caliper.pipeline.store.run_record import Evaluation

if TYPE_CHECKING:
    from rich import markdown

    from caliper.adapters.remote.gateway import RemoteGateway
    from caliper.local import submission as sending
else:
    markdown = lazy_module("rich.markdown")
    sending = lazy_module("caliper.local.submission")

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run id.")]
_INTERVAL = 1.0


async def evaluate_remotely(config: RunConfig, server: str, output: OutputOptions) -> int:
    """Push data and captions, start the run, wait for its end, and write its report files to --out.

    Raises what `ReportFolder`, `send` and `RemoteGateway.watch` raise.
    """
    folder = ReportFolder(config.out)
    async with open_gateway(server) as gateway:
        notes: list[str] = []
        check = folder.refuse_other_request
        started = await sending.send(config, gateway, note=notes.append, check=check)
        # The installation may have other models than before.
        folder.refuse_other_run(started.spec)
        # Any other run is resumed.
        already_complete = started.state in WHOLE_STATES
        show_gaps(config, started.spec, output)
        show_notes(notes, output)
        try:
            ended = await watch_run(gateway, started.spec.run_id, output)
        except (BackendUnavailable, BackendTimeout) as error:
            raise BackendUnavailable(
                f"{error}\nRun {started.spec.run_id} continues there; rerun the same command to "
                "watch it."
            ) from error
        if ended.state in REPORTED_STATES:
            await folder.write(gateway, started.spec.run_id)
            warn = WarningWatcher().on_warning
            await export_installed(server, started.spec.run_id, config.export, warn)
            if output.json:
                report = await gateway.report(started.spec.run_id, partial=True)
                since = ended.ended if already_complete else None
                write_out(with_execution(report.decode(), since, ended.reuse))
            elif not output.quiet:
                show_reuse(ended.reuse, OUT)
                if already_complete and ended.ended is not None:
                    OUT.print(f"[dim]{already_ended(str(ended.state), ended.ended)}[/dim]")
    _show_lack(ended, output)
    return _code(ended)


async def report_remotely(run: str, server: str, out: Path | None, output: OutputOptions) -> int:
    """Show the report of a run of an installation, and write its files to `out` if given.

    Raises what `ReportFolder` and `RemoteGateway.report` raise.
    """
    folder = ReportFolder(out)
    async with open_gateway(server) as gateway:
        evaluation = await gateway.get(run)
        folder.refuse_other_run(evaluation.spec)
        # The report itself says what it lacks.
        _show_lack(evaluation, output, reported=not output.quiet)
        try:
            report = (await gateway.report(run, partial=True)).decode()
        except NotReady:
            if evaluation.state is RunState.FAILED:
                return Exit.NO
            raise
        await folder.write(gateway, run)
        if output.json:
            write_out(report)
        elif not output.quiet:
            readable = await gateway.report(run, "report.md", partial=True)
            OUT.print(markdown.Markdown(readable.decode()))
    return Exit.NO if json_module.loads(report)["partial"] else Exit.DONE


async def watch_run(gateway: RemoteGateway, run: str, output: OutputOptions) -> Evaluation:
    """Print every change until the run has ended. Raises what `RemoteGateway.watch` raises."""
    last = await gateway.get(run)
    async for change in gateway.watch(run, _INTERVAL):
        if not (output.quiet or output.json):
            OUT.print(run_line(change), soft_wrap=True, highlight=False)
        last = change
    return last


def run_line(evaluation: Evaluation) -> str:
    """A run on one line: its state, headlines and progress, with what each headline lacks."""
    spec = evaluation.spec
    in_part = ", judged in part" if spec.judge_share is not None else ""
    parts = [f"{spec.run_id} {plain(spec.name)} [bold]{evaluation.state}[/bold]{in_part}"]
    for part in evaluation.benchmarks:
        answered = part.coverage.scored + sum(part.coverage.unscored.values())
        headline = part.estimates.get(part.headline)
        value = number(headline.value) if headline and headline.value is not None else "-"
        progress = f"{answered:,}/{part.coverage.planned:,}"
        details = "; ".join(filter(None, (progress, plain(remarks(part)))))
        parts.append(f"{part.title} {value} ({details})")
    return "  ".join(
        [*parts, f"[red]{plain(evaluation.error)}[/red]"] if evaluation.error else parts
    )


def _show_lack(evaluation: Evaluation, output: OutputOptions, *, reported: bool = False) -> None:
    """Print why a run failed, in every output mode; and, unless `reported` elsewhere or as JSON,
    what an incomplete one lacks.
    """
    if evaluation.state is RunState.FAILED:
        ERR.print(f"[red]The run failed: {plain(evaluation.error)}[/red]", soft_wrap=True)
    elif evaluation.state not in WHOLE_STATES and not (reported or output.json):
        spec, reached = evaluation.spec, str(evaluation.state)
        text = f"Run {spec.run_id} is {reached}, not complete."
        if evaluation.state is RunState.FINISHED:
            text = state(Report(spec.name, reached, evaluation.benchmarks, spec.to_json()))
        write_reason(text)


def as_json(evaluation: Evaluation) -> dict[str, str]:
    """A run as `--json` prints it."""
    return {
        "run": evaluation.spec.run_id,
        "name": evaluation.spec.name,
        "state": str(evaluation.state),
        "started": evaluation.started.isoformat(),
        "error": evaluation.error,
    }


def _code(evaluation: Evaluation) -> Exit:
    return Exit.DONE if evaluation.state in WHOLE_STATES else Exit.NO


def watch(run: Run, server: Server, json: Json = False, quiet: Quiet = False) -> int:
    """Watch a run of an installation until it ends. Exit code 1 if it is not complete."""
    output = OutputOptions(json=json, quiet=quiet)
    ended = asyncio.run(ask_gateway(server, lambda gateway: watch_run(gateway, run, output)))
    _show_lack(ended, output)
    if json:
        write_json(as_json(ended))
    return _code(ended)


def cancel(run: Run, server: Server, quiet: Quiet = False) -> int:
    """Cancel a run of an installation."""
    evaluation = asyncio.run(ask_gateway(server, lambda gateway: gateway.cancel(run)))
    if not quiet:
        OUT.print(run_line(evaluation), soft_wrap=True, highlight=False)
    return Exit.DONE
