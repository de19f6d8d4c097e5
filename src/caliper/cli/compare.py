"""`caliper compare`: how much the figures of runs differ from the first's, and what else does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters.exports.comparison import comparison_json
from caliper.adapters.files import write_text
from caliper.adapters.pages.compare import Section, render_comparison, sections
from caliper.adapters.wording import chance, dimensions, interval, number, percent, stuffed_side
from caliper.analysis.flips import Flips
from caliper.analysis.significance import LEVEL
from caliper.cli.comparison import Anyway, Partial, compared
from caliper.cli.console import OUT, write_out
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet, also_written
from caliper.cli.installation import InstalledServer
from caliper.cli.options import taking
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparison import (
    FLIPS,
    MOST_FLIPS,
    Against,
    Comparison,
    ComparisonRequest,
)

HELP = """Compare runs with BASE, metric by metric.

Differences are paired on the same media; p-values are Holm-adjusted over all metrics and runs.
Runs that differ in more than the checkpoint (judge, prompts, settings, data) need --anyway, and
incomplete runs need --partial. Averages are over the tasks or domains that both runs have.
Questions that got better or worse are counted; --html shows them with pictures, --json lists them.
With --server an installation compares its own runs.
Exit code 3: a run shares no benchmark with BASE.
"""
_HELP = "A run directory, its name below runs/, or a run id; with --server a run id."
Page = Annotated[Path | None, also_written("--html", "it as a page, with pictures,")]
Listed = Annotated[
    int,
    typer.Option(
        "--flips",
        min=0,
        max=MOST_FLIPS,
        help="How many questions that got better, and that got worse, are listed for each run; "
        "the largest changes first.",
    ),
]


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What can be said of a comparison."""

    base: Annotated[str, typer.Argument(metavar="BASE", help=_HELP)]
    candidates: Annotated[list[str], typer.Argument(metavar="RUN...", help=_HELP)]
    server: InstalledServer = None
    html: Page = None
    flips: Listed = FLIPS
    partial: Partial = False
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def compare(wanted: CompareOptions) -> int:
    """Compare, and show or write what was found."""
    pictures = wanted.html is not None
    # Flips are listed where they are shown.
    flips = wanted.flips if pictures or wanted.json else 0
    wished = ComparisonRequest(wanted.anyway, wanted.partial, flips)
    runs = (wanted.base, *wanted.candidates)
    found, thumbnail = compared(runs, wanted.server, wished, pictures=pictures)
    if wanted.html is not None:
        write_text(wanted.html, render_comparison(found, thumbnail))
    if wanted.json:
        write_out(comparison_json(found))
    elif not wanted.quiet:
        _show(found)
    everywhere = all(candidate.parts for candidate in found.candidates)
    return Exit.DONE if everywhere else Exit.INCONCLUSIVE


def _show(found: Comparison) -> None:
    names = found.names
    for name, side in zip(names, found.sides, strict=True):
        if side.state is not RunState.COMPLETE:
            told = f"{escape(name)} is {side.state}, not complete: coverage {percent(side.share)}."
            OUT.print(f"[yellow]{told}[/yellow]")
    for name, candidate in zip(names[1:], found.candidates, strict=True):
        _show_one((names[0], name), candidate)
    for told in filter(None, map(stuffed_side, names, found.sides)):
        OUT.print(f"[bold red]{escape(told)}[/bold red]", soft_wrap=True)


def _show_one(names: tuple[str, str], candidate: Against) -> None:
    """The headlines come last: a terminal shows the end."""
    found = sections(candidate)
    if not found:
        OUT.print("The runs share no benchmark, so there is nothing to compare.")
    for section in (*found[1:], *found[:1]):
        OUT.print(_table(section, names))
        for label, difference in section.rows:
            if told := dimensions(difference):
                OUT.print(f"[yellow]{escape(label)}: {escape(told)}.[/yellow]", soft_wrap=True)
        OUT.print()
    if found:
        OUT.print(_flipped(candidate.flips))


def _flipped(found: Flips) -> str:
    return (
        f"{found.better:,} questions got better, {found.worse:,} worse, "
        f"{found.same:,} have the same score, {found.unpaired:,} have none in one of the runs."
    )


def _table(section: Section, names: tuple[str, str]) -> Table:
    table = Table(title=escape(section.title), title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for name in (*map(escape, names), "difference", "95% interval", "p", "detectable", "media"):
        table.add_column(name, justify="right")
    for label, found in section.rows:
        clear = found.adjusted is not None and found.adjusted < LEVEL
        table.add_row(
            escape(label),
            number(found.first),
            number(found.second),
            f"[bold]{number(found.value)}[/bold]" if clear else number(found.value),
            interval(found),
            chance(found),
            "" if found.detectable is None else number(found.detectable),
            f"{found.paired:,}",
        )
    return table


command = taking(compare, CompareOptions, help_text=HELP)
