"""`caliper compare`: how the metrics and settings of runs differ from those of a base run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters.caption_warnings import side_warnings
from caliper.adapters.exports.comparison import comparison_json
from caliper.adapters.files import write_text
from caliper.adapters.pages.compare import Section, render_comparison, sections
from caliper.adapters.phrases import dimensions, interval, number, p_value, percent, unpaired
from caliper.analysis.significance import LEVEL
from caliper.cli.comparison import Anyway, Partial, compare_and_warn
from caliper.cli.console import OUT, write_out
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet, output_file
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.cli.tables import text_table
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparison import (
    FLIPS,
    MOST_FLIPS,
    Against,
    Comparison,
    ComparisonRequest,
)

HELP = """Compare runs with BASE, metric by metric.

Differences are over questions scored in both runs; p-values are Holm-adjusted over all metrics and
runs. Runs that differ in more than the checkpoint (judge, prompts, settings, data) need --anyway,
and incomplete runs need --partial. Averages are over the tasks or domains that both runs have.
Questions that got better or worse are counted; --html shows them with pictures, --json lists them.
With --server an installation compares its own runs.
Exit code 3: a run shares no benchmark with BASE.
"""
_HELP = "A run directory, name below runs/, or run id."
Page = Annotated[Path | None, output_file("--html", "it as a page, with pictures")]
Listed = Annotated[
    int,
    typer.Option(
        "--flips",
        min=0,
        max=MOST_FLIPS,
        help="Limit of better, and of worse, questions listed per run, largest changes first.",
    ),
]


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """The arguments and options of `compare`."""

    base: Annotated[str, typer.Argument(metavar="BASE", help=_HELP)]
    candidates: Annotated[list[str], typer.Argument(metavar="RUN...", help=_HELP)]
    server: InstalledServer = None
    html: Page = None
    flips: Listed = FLIPS
    partial: Partial = False
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def compare(options: CompareOptions) -> int:
    """Compare the runs, and show or write the comparison."""
    pictures = options.html is not None
    # List flips only if they are shown.
    flips = options.flips if pictures or options.json else 0
    request = ComparisonRequest(options.anyway, options.partial, flips)
    runs = (options.base, *options.candidates)
    comparison, thumbnail = compare_and_warn(runs, options.server, request, pictures=pictures)
    if options.html is not None:
        write_text(options.html, render_comparison(comparison, thumbnail))
    if options.json:
        write_out(comparison_json(comparison))
    elif not options.quiet:
        _show(comparison)
    everywhere = all(candidate.parts for candidate in comparison.candidates)
    return Exit.DONE if everywhere else Exit.INCONCLUSIVE


def _show(comparison: Comparison) -> None:
    names = comparison.names
    for name, side in zip(names, comparison.sides, strict=True):
        if side.state is not RunState.COMPLETE:
            warning = (
                f"{escape(name)} is {side.state}, not complete: coverage {percent(side.share)}."
            )
            OUT.print(f"[yellow]{warning}[/yellow]")
    for name, candidate in zip(names[1:], comparison.candidates, strict=True):
        _show_one((names[0], name), candidate)
    for warning in chain.from_iterable(map(side_warnings, names, comparison.sides)):
        OUT.print(f"[bold red]{escape(warning)}[/bold red]", soft_wrap=True)


def _show_one(names: tuple[str, str], candidate: Against) -> None:
    """Print the headlines last: a terminal shows the end."""
    parts = sections(candidate)
    if not parts:
        OUT.print("The runs share no benchmark, so there is nothing to compare.")
    for section in (*parts[1:], *parts[:1]):
        OUT.print(_table(section, names))
        for label, difference in section.rows:
            if warning := dimensions(difference):
                OUT.print(f"[yellow]{escape(label)}: {escape(warning)}.[/yellow]", soft_wrap=True)
        if labels := ", ".join(label for label, each in section.rows if each.leaves_out):
            text = f"Differences over the questions scored in both runs: {escape(labels)}."
            OUT.print(f"[yellow]{text}[/yellow]", soft_wrap=True)
        OUT.print()
    if parts:
        flips = candidate.flips
        OUT.print(
            f"{flips.better:,} better, {flips.worse:,} worse, {flips.same:,} unchanged, "
            f"{unpaired(candidate)}."
        )


def _table(section: Section, names: tuple[str, str]) -> Table:
    heads = (*map(escape, names), "difference", "95% interval", "p", "detectable", "media")
    table = text_table([""], heads, section.title)
    for label, difference in section.rows:
        clear = difference.adjusted is not None and difference.adjusted < LEVEL
        table.add_row(
            escape(label),
            number(difference.first),
            number(difference.second),
            f"[bold]{number(difference.value)}[/bold]" if clear else number(difference.value),
            interval(difference),
            p_value(difference),
            "" if difference.detectable is None else number(difference.detectable),
            f"{difference.paired:,}",
        )
    return table


command = command_taking(compare, CompareOptions, help_text=HELP)
