"""`caliper compare`: how much the figures of two runs differ, and what else differs."""

from __future__ import annotations

import asyncio
import json as json_module
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from caliper.adapters.files import write_text
from caliper.adapters.pages.compare import Compared, Section, render_comparison
from caliper.adapters.wording import number, probability
from caliper.analysis.compare import Difference, Distinction
from caliper.analysis.flips import Flip, Flips
from caliper.analysis.significance import LEVEL
from caliper.cli.comparing import Anyway, refuse_unlike
from caliper.cli.console import OUT
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.cli.remote import InstalledServer, reports_there
from caliper.core.errors import InvalidInput
from caliper.core.report import BenchmarkReport, Report
from caliper.core.report import Path as FigurePath
from caliper.runtime.sinks import by_sample, thumbnails_below
from caliper.standalone.directory import find_run
from caliper.standalone.kept import (
    Differences,
    compare_runs,
    flips_between,
    media_of,
    read_run,
)

HELP = """Set two runs side by side: the difference of every figure, second minus first.

Differences are paired on the same media; p is adjusted for looking at several dimensions. Runs
that differ in more than their checkpoints (judge, prompts, settings, data) are refused unless
they are to be compared --anyway. Questions that got better or worse are counted; --html shows
them with their pictures, --json lists them.
With --server the runs are those of an installation. It tells figures, not what each medium gave,
so that nothing is paired and differences come without intervals.
Exit code 3 when the runs have no benchmark in common.
"""
_HELP = "A run directory, its name below runs/, or a run id; with --server a run id."
Page = Annotated[
    Path | None,
    typer.Option("--html", metavar="PATH", help="Also write it there as a page, with pictures."),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What can be said of a comparison."""

    first: Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]
    second: Annotated[str, typer.Argument(metavar="RUN", help=_HELP)]
    server: InstalledServer = None
    html: Page = None
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def compare(wanted: Wanted) -> int:
    """Compare, and show or write what was found."""
    if wanted.server is not None:
        return _compare_there(wanted, wanted.server)
    directories = [find_run(name) for name in (wanted.first, wanted.second)]
    kept = [asyncio.run(read_run(directory)) for directory in directories]
    before, after = (run.report for run in kept)
    differing = refuse_unlike(before, after, anyway=wanted.anyway)
    differences = compare_runs(*kept)
    found = asyncio.run(flips_between(*directories))
    if wanted.html is not None:
        names = (before.name, after.name)
        sections = _sections(after, differences)
        captions = [by_sample(directory.read_captions()) for directory in directories]
        compared = Compared(names, differing, sections, found, (captions[0], captions[1]))
        media = thumbnails_below(media_of(directories[1]))
        write_text(wanted.html, render_comparison(compared, media))
    if wanted.json:
        sys.stdout.write(_told(before.name, after.name, differing, differences, found))
    elif not wanted.quiet:
        _show(before, after, differences)
        if differences:
            OUT.print(_flipped(found))
    return Exit.DONE if differences else Exit.INCONCLUSIVE


def _compare_there(wanted: Wanted, server: str) -> int:
    if wanted.html is not None:
        raise InvalidInput("an installation tells no questions: there is no page", field="--html")
    before, after = asyncio.run(reports_there((wanted.first, wanted.second), server))
    differing = refuse_unlike(before, after, anyway=wanted.anyway)
    differences = _unpaired(before, after)
    if wanted.json:
        sys.stdout.write(_told(before.name, after.name, differing, differences, None))
    elif not wanted.quiet:
        _show(before, after, differences)
    return Exit.DONE if differences else Exit.INCONCLUSIVE


def _unpaired(first: Report, second: Report) -> Differences:
    """The differences of the figures that two reports have in common."""
    known = {part.name: part.estimates for part in first.benchmarks}
    return {
        part.name: {
            path: _difference(known[part.name][path].value, found.value)
            for path, found in part.estimates.items()
            if path in known[part.name]
        }
        for part in second.benchmarks
        if part.name in known
    }


def _difference(before: float | None, after: float | None) -> Difference:
    value = None if before is None or after is None else after - before
    return Difference(before, after, value)


def _sections(after: Report, differences: Differences) -> list[Section]:
    """The headlines, and each benchmark's first table in the column that its chart draws."""
    parts = [part for part in after.benchmarks if part.name in differences]
    headlines = tuple(
        (f"{part.title} {' '.join(part.headline)}", differences[part.name][part.headline])
        for part in parts
    )
    tables = [_first_table(part, differences[part.name]) for part in parts]
    return [Section("Headline figures", headlines), *tables] if parts else []


def _show(before: Report, after: Report, differences: Differences) -> None:
    """The headlines come last: a terminal shows the end."""
    sections = _sections(after, differences)
    if not sections:
        OUT.print("The runs have no benchmark in common: there is nothing to compare.")
    for section in (*sections[1:], *sections[:1]):
        OUT.print(_table(section, (before.name, after.name)))
        OUT.print()


def _flipped(found: Flips) -> str:
    return (
        f"{len(found.better):,} questions got better, {len(found.worse):,} worse, "
        f"{found.same:,} have the same score, {found.unpaired:,} have none in one of the runs."
    )


def _first_table(part: BenchmarkReport, differences: Mapping[FigurePath, Difference]) -> Section:
    """An installation tells no tables: then every figure is a row."""
    if not part.tables:
        every = tuple((" ".join(path), found) for path, found in differences.items())
        return Section(f"{part.title}: all figures", every)
    table = part.tables[0]
    column = table.chart or 0
    rows = tuple(
        (row.label, differences[path])
        for row in table.rows
        if (path := row.cells[column]) is not None and path in differences
    )
    return Section(f"{part.title}: {table.columns[column]}", rows)


def _table(section: Section, names: tuple[str, str]) -> Table:
    table = Table(title=escape(section.title), title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for name in (*map(escape, names), "difference", "95 % interval", "p", "media"):
        table.add_column(name, justify="right")
    for label, found in section.rows:
        clear = found.adjusted is not None and found.adjusted < LEVEL
        table.add_row(
            escape(label),
            number(found.first),
            number(found.second),
            f"[bold]{number(found.value)}[/bold]" if clear else number(found.value),
            _interval(found),
            probability(found.adjusted),
            f"{found.paired:,}",
        )
    return table


def _interval(found: Difference) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"{number(found.low)} to {number(found.high)}"


def _told(
    first: str,
    second: str,
    differing: tuple[Distinction, ...],
    differences: Differences,
    found: Flips | None,
) -> str:
    told: dict[str, Any] = {
        "first": first,
        "second": second,
        "differs": [asdict(distinction) for distinction in differing],
        "figures": {
            name: {".".join(path): asdict(found) for path, found in figures.items()}
            for name, figures in differences.items()
        },
    }
    if found is not None:
        told["flips"] = {
            "better": [_flip_told(flip) for flip in found.better],
            "worse": [_flip_told(flip) for flip in found.worse],
            "same": found.same,
            "unpaired": found.unpaired,
        }
    return json_module.dumps(told, indent=2, sort_keys=True) + "\n"


def _flip_told(flip: Flip) -> dict[str, Any]:
    row = flip.after
    return {
        "benchmark": row.benchmark,
        "dimension": row.dimension,
        "item": row.item,
        "question_id": row.question_id,
        "repeat": row.repeat,
        "question": row.question,
        "first": flip.before.score,
        "second": row.score,
    }
