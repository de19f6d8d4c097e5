"""Shows a report on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from caliper.adapters.caption_warnings import stuffing_warnings
from caliper.adapters.phrases import NO_DATA, label, number, remarks, reuse, state
from caliper.adapters.provenance import facts
from caliper.cli.console import ERR
from caliper.cli.options import OutputOptions
from caliper.core.report import BenchmarkReport, Estimate, Report, Reuse, Table
from caliper.core.run import RunSpec
from caliper.local.config import RunConfig
from caliper.local.recipes import recipe_gaps


def show_report(report: Report, console: Console) -> None:
    """Print the tables of every benchmark, their coverage and their notes."""
    for note in stuffing_warnings(report):
        console.print(f"\n[bold red]Not for comparison.[/bold red] {escape(note)}")
    for part in report.benchmarks:
        console.print()
        title = f"[bold]{escape(part.title)}[/bold]  {escape(report.name)}"
        console.print(f"{title}  {_headline(part)}")
        for table in part.tables:
            if table.rows:
                console.print(_grid(part, table))
        for fact in facts(part, report.spec):
            if fact.brief:
                style = "yellow" if fact.warning else "dim"
                line = escape(f"{fact.label}: {fact.text}")
                console.print(line, style=style, highlight=False, soft_wrap=True)
        for note in part.notes:
            console.print(f"[yellow]{escape(note)}[/yellow]")
    if report.partial:
        console.print(f"\n[bold red]{escape(state(report))}[/bold red]", soft_wrap=True)


def show_headlines(report: Report, console: Console) -> None:
    """Print the headline figure of every benchmark once more: a terminal shows the end."""
    console.print()
    for part in report.benchmarks:
        console.print(f"{escape(part.title)}: {_headline(part)}")


def _headline(part: BenchmarkReport) -> str:
    value = format_estimate(part.estimates.get(part.headline))
    text = remarks(part)
    remark = f" [yellow]{escape(text)}[/yellow]" if text else ""
    return f"[bold]{value}[/bold] {escape(label(part, part.headline))}{remark}"


def show_place(path: Path, console: Console) -> None:
    """Print the path of the page on its own line, unwrapped and without markup."""
    console.print(f"\n{path}", soft_wrap=True, highlight=False, markup=False)


def show_reuse(reused: Reuse | None, console: Console) -> None:
    """Print how many replies of earlier runs a run reused, if any."""
    if text := reuse(reused):
        console.print(f"[yellow]{text}[/yellow]", highlight=False, soft_wrap=True)


def show_gaps(config: RunConfig, spec: RunSpec, output: OutputOptions) -> None:
    """Print to standard error how a run deviates from its recipe, unless `output` is quiet."""
    if config.recipe is None or output.quiet:
        return
    for text in recipe_gaps(spec, config.recipe):
        ERR.print(f"[yellow]Note:[/yellow] {escape(text)}", soft_wrap=True)


def show_notes(notes: Iterable[str], output: OutputOptions) -> None:
    """Print to standard error how captions were found, unless `output` is quiet."""
    for text in () if output.quiet else notes:
        ERR.print(escape(text), soft_wrap=True, highlight=False)


def with_execution(report: str, since: datetime | None, reused: Reuse | None) -> str:
    """report.json as `evaluate --json` prints it: with `already_ended` if no model was called, and
    `reuse` if replies of earlier runs were reused.
    """
    extra: dict[str, Any] = {}
    if since is not None:
        extra["already_ended"] = since.isoformat(timespec="seconds")
    if reused is not None:
        extra["reuse"] = asdict(reused)
    if not extra:
        return report
    whole = {**json.loads(report), **extra}
    return json.dumps(whole, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def _grid(part: BenchmarkReport, table: Table) -> Grid:
    grid = Grid(title=escape(table.title), title_justify="left", box=None, pad_edge=False)
    grid.add_column("")
    for place, column in enumerate(table.columns):
        # On a narrow terminal, wrap labels rather than intervals.
        grid.add_column(column, justify="right", no_wrap=place == table.chart)
    for row in table.rows:
        # The intervals of all figures do not fit a terminal; the files have them.
        grid.add_row(
            escape(row.label),
            *(
                format_estimate(part.estimates.get(path), interval=table.chart in (None, place))
                if path
                else ""
                for place, path in enumerate(row.cells)
            ),
        )
    return grid


def format_estimate(estimate: Estimate | None, *, interval: bool = True) -> str:
    """Format an estimate: its value, and optionally its interval."""
    if estimate is None or estimate.value is None:
        return NO_DATA
    if not interval or estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return f"{number(estimate.value)} [dim]({estimate.low:.1f} to {estimate.high:.1f})[/dim]"
