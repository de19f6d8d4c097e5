"""Runs of an installation: evaluated, listed, watched and cancelled through its gateway."""

from __future__ import annotations

import asyncio
import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from caliper.adapters.files import write_atomically
from caliper.adapters.wording import number, unasked
from caliper.cli.console import ERR, OUT, plain, write_json, write_out, write_reason
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.cli.installation import Server, open_gateway, open_store
from caliper.cli.options import OutputOptions
from caliper.cli.recipes import show_gaps
from caliper.cli.show import show_reuse, with_execution
from caliper.core.errors import BackendTimeout, BackendUnavailable, NotReady
from caliper.core.run import RunState
from caliper.deferred import deferred
from caliper.local.config import RunConfig
from caliper.pipeline.reports.run_reader import FILES
from caliper.pipeline.store.run_record import Evaluation

if TYPE_CHECKING:
    from rich import markdown

    from caliper.adapters.remote.gateway import RemoteGateway
    from caliper.cli import submission as sending
else:
    markdown = deferred("rich.markdown")
    sending = deferred("caliper.cli.submission")

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run id.")]
Name = Annotated[str, typer.Option("--name", help="Only runs of the checkpoint with this label.")]
_INTERVAL = 1.0


async def evaluate_there(config: RunConfig, server: str, shown: OutputOptions) -> int:
    """Push data and captions, start the run, and wait for its end. With --out its report files
    are written there. Raises what `send` and `RemoteGateway.watch` raise.
    """
    store = open_store()
    async with open_gateway(server) as gateway:
        begun = await sending.send(config, gateway, store)
        # Only a complete run is not taken up again.
        nothing_asked = begun.state is RunState.COMPLETE
        show_gaps(config, begun.spec, shown)
        try:
            ended = await _watch(gateway, begun.spec.run_id, shown)
        except (BackendUnavailable, BackendTimeout) as error:
            raise BackendUnavailable(
                f"{error}\nRun {begun.spec.run_id} goes on there all the same: the same command "
                "takes it up again."
            ) from error
        if ended.state in (RunState.COMPLETE, RunState.FINISHED):
            if config.out is not None:
                await _write(gateway, begun.spec.run_id, config.out)
            if shown.json:
                report = await gateway.report(begun.spec.run_id, partial=True)
                since = ended.ended if nothing_asked else None
                write_out(with_execution(report.decode(), since, ended.reuse))
            elif not shown.quiet:
                show_reuse(ended.reuse, OUT)
                if nothing_asked and ended.ended is not None:
                    OUT.print(f"[dim]{unasked(str(ended.state), ended.ended)}[/dim]")
    _tell_failure(ended, shown)
    return _code(ended)


async def report_there(run: str, server: str, out: Path | None, shown: OutputOptions) -> int:
    """Show the report of a run of an installation, and write its files to `out` if that is
    given. Raises what `RemoteGateway.report` raises.
    """
    async with open_gateway(server) as gateway:
        found = await gateway.get(run)
        _tell_failure(found, shown)
        try:
            report = (await gateway.report(run, partial=True)).decode()
        except NotReady:
            if found.state is RunState.FAILED:
                return Exit.NO
            raise
        if out is not None:
            await _write(gateway, run, out)
        if shown.json:
            write_out(report)
        elif not shown.quiet:
            readable = await gateway.report(run, "report.md", partial=True)
            OUT.print(markdown.Markdown(readable.decode()))
    return Exit.NO if json_module.loads(report)["partial"] else Exit.DONE


async def _write(gateway: RemoteGateway, run: str, folder: Path) -> None:
    for file in FILES:
        data = await gateway.report(run, file, partial=True)
        await asyncio.to_thread(write_atomically, folder / file, data)


async def _watch(gateway: RemoteGateway, run: str, shown: OutputOptions) -> Evaluation:
    """Print every change until the run is over."""
    last = await gateway.get(run)
    async for found in gateway.watch(run, _INTERVAL):
        if not (shown.quiet or shown.json):
            OUT.print(_line(found), soft_wrap=True, highlight=False)
        last = found
    return last


def _line(found: Evaluation) -> str:
    parts = [f"{found.spec.run_id} {plain(found.spec.name)} [bold]{found.state}[/bold]"]
    for part in found.benchmarks:
        known = part.coverage.scored + sum(part.coverage.unscored.values())
        headline = part.estimates.get(part.headline)
        value = number(headline.value) if headline and headline.value is not None else "-"
        parts.append(f"{part.title} {value} ({known}/{part.coverage.planned})")
    return "  ".join([*parts, f"[red]{plain(found.error)}[/red]"] if found.error else parts)


def _tell_failure(found: Evaluation, shown: OutputOptions) -> None:
    """Say why a run failed, however little else is shown; and where nothing is, what else keeps
    it from being complete.
    """
    if found.state is RunState.FAILED:
        ERR.print(f"[red]The run failed: {plain(found.error)}[/red]", soft_wrap=True)
    elif found.state is not RunState.COMPLETE and shown.quiet and not shown.json:
        write_reason(f"Run {found.spec.run_id} is {found.state}, not complete.")


def _told(found: Evaluation) -> dict[str, str]:
    return {
        "run": found.spec.run_id,
        "name": found.spec.name,
        "state": str(found.state),
        "started": found.started.isoformat(),
        "error": found.error,
    }


def _code(found: Evaluation) -> Exit:
    return Exit.DONE if found.state is RunState.COMPLETE else Exit.NO


def watch(run: Run, server: Server, json: Json = False, quiet: Quiet = False) -> int:
    """Watch a run of an installation until it ends. Exit code 1 if it is not complete."""
    shown = OutputOptions(json=json, quiet=quiet)

    async def watching() -> Evaluation:
        async with open_gateway(server) as gateway:
            return await _watch(gateway, run, shown)

    ended = asyncio.run(watching())
    _tell_failure(ended, shown)
    if json:
        write_json(_told(ended))
    return _code(ended)


def runs(server: Server, name: Name = "", json: Json = False) -> int:
    """List the runs of an installation, newest first."""

    async def listing() -> list[Evaluation]:
        found: list[Evaluation] = []
        token = ""
        async with open_gateway(server) as gateway:
            while True:
                page = await gateway.list(token=token, name=name)
                found += page.evaluations
                token = page.next
                if not token:
                    return found

    found = asyncio.run(listing())
    if json:
        told = [_told(one) for one in found]
        write_json(told)
        return Exit.DONE
    for one in found:
        OUT.print(f"{one.started:%Y-%m-%d %H:%M}  {_line(one)}", soft_wrap=True, highlight=False)
    return Exit.DONE


def cancel(run: Run, server: Server, quiet: Quiet = False) -> int:
    """Cancel a run of an installation."""

    async def cancelling() -> Evaluation:
        async with open_gateway(server) as gateway:
            return await gateway.cancel(run)

    found = asyncio.run(cancelling())
    if not quiet:
        OUT.print(_line(found), soft_wrap=True, highlight=False)
    return Exit.DONE
