"""`caliper view`: run directories as web pages, or a run as one page to share."""

from __future__ import annotations

import asyncio
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caliper.adapters.files import write_text
from caliper.cli.console import ERR, OUT
from caliper.cli.exits import Exit
from caliper.cli.options import command_taking
from caliper.cli.run_arguments import AnyRuns
from caliper.cli.show import show_place
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.errors import InvalidInput
from caliper.local.directory import find_run
from caliper.local.reports import finished_runs
from caliper.local.run_page import run_page
from caliper.local.run_shelf import RunShelf
from caliper.serving.addresses import Address
from caliper.serving.pages import Pages, error_page
from caliper.serving.web import WebServer
from caliper.wiring.clock import SystemClock

HELP = """Browse runs with all their verdicts, or write a run as one page to share.

Without RUN, all runs below runs/ that have a report. The pages are those of `caliper serve`, for
browsers on this machine, until Ctrl-C.
"""


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """The arguments and options of `view`."""

    runs: AnyRuns = None
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1.")] = 0
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False
    out: Annotated[
        Path | None, typer.Option("--out", dir_okay=False, help="Write an HTML file instead.")
    ] = None
    with_media: Annotated[
        bool,
        typer.Option("--with-media", help="Embed pictures, if you may share them."),
    ] = False


def view(options: ViewOptions) -> int:
    """Serve the pages, or write the file."""
    directories = [find_run(name) for name in options.runs or ()] or [
        directory for directory, _ in finished_runs(WarningWatcher().on_warning)
    ]
    if not directories:
        raise InvalidInput("there is no run with a report below runs/", field="RUN")
    if options.out is None:
        if options.with_media:
            raise InvalidInput("needs --out", field="--with-media")
        # Ctrl-C is how people leave.
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve(RunShelf(directories), options))
        return Exit.DONE
    if len(directories) > 1:
        raise InvalidInput("is a page of one run: name one", field="--out")
    page = asyncio.run(run_page(directories[0], with_media=options.with_media))
    write_text(options.out, page)
    show_place(options.out, OUT)
    return Exit.DONE


async def _serve(shelf: RunShelf, options: ViewOptions) -> None:
    sources = shelf.sources(SystemClock())
    routes = Pages(sources).routes()
    server = WebServer(Address("127.0.0.1", options.port), routes, error_page, "--port")
    serving = asyncio.create_task(server.run())
    started = asyncio.create_task(server.started.wait())
    await asyncio.wait((serving, started), return_when=asyncio.FIRST_COMPLETED)
    if started.done():
        path = f"runs/{shelf.specs[0].run_id}" if len(shelf.specs) == 1 else ""
        place = f"http://{server.address}/{path}"
        ERR.print(f"pages on {place}", highlight=False, soft_wrap=True)
        if not options.no_open:
            # In a thread: a browser in the terminal returns only when people leave it.
            await asyncio.to_thread(webbrowser.open, place)
        if path:
            # Counted in advance; the reader keeps the counts.
            await sources.reader.facets(shelf.specs[0].run_id)
    await serving


command = command_taking(view, ViewOptions, help_text=HELP)
