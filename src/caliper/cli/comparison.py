"""Compares runs for `compare`, `gate` and `leaderboard`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.pages.page_data import Thumbnail
from caliper.analysis import comparability as likeness
from caliper.analysis.comparability import Distinction, describe, setup_differences
from caliper.analysis.drift import Sitting, drift
from caliper.cli.console import ERR
from caliper.cli.installation import open_gateway
from caliper.core.report import Report
from caliper.local.directory import find_run
from caliper.local.reports import media_of, stored_sittings
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest, compare_runs
from caliper.pipeline.reports.judge_check import Sittings
from caliper.wiring.sinks import folder_thumbnails

Anyway = Annotated[
    bool,
    typer.Option(
        "--anyway",
        help="Compare even if judge, prompts, settings or data differ; differences are listed.",
    ),
]
Partial = Annotated[
    bool,
    typer.Option("--partial", help="Compare runs that are not complete; their state is shown."),
]
_MOST_EXAMPLES = 5


def open_comparison(
    runs: Sequence[str], server: str | None, request: ComparisonRequest, *, pictures: bool = False
) -> tuple[Comparison, Thumbnail]:
    """Compare the first run with the others, locally or on an installation; also their pictures.

    Reports on standard error what differs besides the checkpoints, and drift of the judge between
    local runs. Raises what `compare_runs` raises, InvalidInput for a local run that does not exist,
    and what `RemoteGateway.compare` raises on an installation.
    """
    if server is None:
        directories = [find_run(name) for name in runs]
        comparison = asyncio.run(compare_runs([each.stored_run for each in directories], request))
        # Combine all folders: media that one run lacks, another may have.
        folders: dict[str, Path] = {}
        for directory in directories if pictures else ():
            folders |= media_of(directory)
        thumbnail = folder_thumbnails(folders)
        asyncio.run(_warn_of_drift(runs))
    else:
        comparison, thumbnail = asyncio.run(
            _compare_remotely(runs, server, request, pictures=pictures)
        )
    for name, candidate in zip(comparison.names[1:], comparison.candidates, strict=True):
        _warn_of_distinctions(
            candidate.setup_differences, name if len(comparison.candidates) > 1 else ""
        )
    return comparison, thumbnail


async def _compare_remotely(
    runs: Sequence[str], server: str, request: ComparisonRequest, *, pictures: bool
) -> tuple[Comparison, Thumbnail]:
    async with open_gateway(server) as gateway:
        comparison, pictures_by_path = await gateway.compare(runs, request, pictures=pictures)
    return comparison, lambda benchmark, path: pictures_by_path.get((benchmark, path))


def check_comparable(first: Report, second: Report, *, anyway: bool) -> tuple[Distinction, ...]:
    """The differences between two runs besides the checkpoint and its captions.

    Raises NotComparable naming the differences; with `anyway` they are returned, and named in a
    warning. A benchmark that only one of them ran does not count.
    """
    distinctions = setup_differences(first, second)
    if not anyway:
        likeness.check_comparable(distinctions)
    _warn_of_distinctions(distinctions)
    return distinctions


def _warn_of_distinctions(differing: Sequence[Distinction], run: str = "") -> None:
    for distinction in differing:
        text = f"{run}: {describe(distinction)}" if run else describe(distinction)
        ERR.print(f"[yellow]Differs:[/yellow] {escape(text)}", soft_wrap=True)


async def _warn_of_drift(runs: Sequence[str]) -> None:
    """Report on standard error how anchors were judged differently in the first run and the others.

    Runs without anchors are skipped. Raises InvalidInput if one is not a run, and for an
    unreadable execution.json.
    """
    first, *others = [(name, await _sittings(name)) for name in runs]
    for other in others:
        for benchmark in first[1].keys() & other[1].keys():
            warning = _drift(benchmark, first, other)
            if warning:
                ERR.print(f"[yellow]Judge drift:[/yellow] {escape(warning)}", soft_wrap=True)


async def _sittings(name: str) -> Sittings:
    directory = find_run(name)
    return await stored_sittings(directory, directory.read_spec())


def _drift(name: str, one: tuple[str, Sittings], other: tuple[str, Sittings]) -> str:
    """The warning about a benchmark's anchors in two runs; empty if they were judged alike."""
    (first, before), (second, after) = (one[0], one[1][name]), (other[0], other[1][name])
    difference = drift(before, after)
    if difference is None:
        return (
            f"{name}: {first} and {second} were judged beside other anchors: nothing "
            "tells whether the judge has changed"
        )
    if not difference.changed and before.agreement == after.agreement:
        return ""
    examples = ", ".join(difference.changed[:_MOST_EXAMPLES])
    more = (
        f" and {len(difference.changed) - _MOST_EXAMPLES} more"
        if len(difference.changed) > _MOST_EXAMPLES
        else ""
    )
    changed = f" ({examples}{more})" if difference.changed else ""
    return (
        f"{name}: the judge gave {len(difference.changed)} of {difference.paired} anchors another "
        f"verdict{changed}; known answers judged correctly: {_agreed(before)} in {first}, "
        f"{_agreed(after)} in {second} (p {difference.p:.3f}). So much of a difference between "
        "the runs may be the judge's"
    )


def _agreed(sitting: Sitting) -> str:
    share = "" if sitting.agreement is None else f" ({sitting.agreement:.1%})"
    return f"{sitting.correct_count} of {sitting.scored_count}{share}"
