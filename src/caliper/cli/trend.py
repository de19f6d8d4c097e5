"""`caliper trend`: the figures of a suite by training step."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.exports.trend import trend_csv
from caliper.adapters.files import write_text
from caliper.adapters.pages.trend import Flips, compare_command, render_trend
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Page, output_file
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.cli.show import format_estimate
from caliper.cli.suites import Name, show_unreadable
from caliper.cli.tables import text_table
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import UnknownName
from caliper.core.report import Estimate
from caliper.local.registration import administration

Figures = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="BENCHMARK.PATH",
        help="A figure of report.json; repeatable. Default: the headlines.",
    ),
]
HELP = "Show the figures of a suite by training step."


@dataclass(frozen=True, slots=True)
class TrendOptions:
    """The arguments and options of `trend`."""

    suite: Name
    figures: Figures = None
    csv: Annotated[Path | None, output_file("--csv", "all figures as CSV")] = None
    html: Page = None
    server: InstalledServer = None
    json: Json = False


def trend(options: TrendOptions) -> int:
    """Read the entries, and show or write them."""
    listed = asyncio.run(_entries(options.suite, options.server))
    entries = [entry for entry in listed if entry.figures]
    figures = _figures(entries, options.figures or ())
    if options.csv is not None:
        write_text(options.csv, trend_csv(entries))
    if options.html is not None:
        others = [entry for entry in listed if not entry.is_open and not entry.figures]
        page = render_trend(options.suite, entries, figures, others, _flips(options.server))
        write_text(options.html, page)
    if options.json:
        write_json([entry.to_json() for entry in entries])
    else:
        _show(entries, figures)
    return Exit.DONE if entries else Exit.INCONCLUSIVE


def _flips(server: str | None) -> Flips:
    if server is None:
        return compare_command
    return lambda base, run: f"{compare_command(base, run)} --server {server}"


async def _entries(name: str, server: str | None) -> tuple[CheckpointEntry, ...]:
    async with administration(server) as suites:
        listing = await suites.whole_entries([name])
    show_unreadable(listing.unreadable)
    return listing.entries


def _figures(entries: Sequence[CheckpointEntry], names: Sequence[str]) -> list[tuple[str, str]]:
    """The figures to show. Raises UnknownName for one that no entry has."""
    every = [figure for entry in entries for figure in entry.figures]
    if not names:
        return list(dict.fromkeys((one.benchmark, one.path) for one in every if one.is_headline))
    by_name = {f"{one.benchmark}.{one.path}": (one.benchmark, one.path) for one in every}
    for name in names:
        if name not in by_name:
            raise UnknownName("figure", name, tuple(by_name))
    return [by_name[name] for name in names]


def _show(entries: Sequence[CheckpointEntry], figures: Sequence[tuple[str, str]]) -> None:
    heads = (escape(f"{name} {path}") for name, path in figures)
    table = text_table(("step", "checkpoint", "state"), heads)
    for entry in entries:
        step = "" if entry.checkpoint.step is None else f"{entry.checkpoint.step:,}"
        extent = "" if entry.is_complete else f", {entry.extent}"
        cells = []
        for figure in figures:
            one = entry.figure(*figure)
            estimate = Estimate(None) if one is None else Estimate(one.value, one.low, one.high)
            cells.append(format_estimate(estimate))
        table.add_row(step, plain(entry.checkpoint.name), f"{entry.state}{extent}", *cells)
    OUT.print(table)


command = command_taking(trend, TrendOptions, help_text=HELP)
