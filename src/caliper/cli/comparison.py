"""What `compare`, `gate` and `leaderboard` have in common: runs set side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.pages.page_data import Thumbnail
from caliper.analysis import likeness
from caliper.analysis.likeness import Distinction, between, said
from caliper.cli.anchors import warn_of_drift
from caliper.cli.console import ERR
from caliper.cli.installation import open_gateway
from caliper.core.report import Report
from caliper.local.directory import find_run
from caliper.local.reports import media_of
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest, compare_runs
from caliper.wiring.sinks import thumbnails_below

Anyway = Annotated[
    bool,
    typer.Option(
        "--anyway",
        help="Compare even if judge, prompts, settings or data differ; differences are listed.",
    ),
]
Partial = Annotated[
    bool,
    typer.Option(
        "--partial",
        help="Compare runs that are not complete; their state is shown.",
    ),
]


def compared(
    runs: Sequence[str], server: str | None, wished: ComparisonRequest, *, pictures: bool = False
) -> tuple[Comparison, Thumbnail]:
    """The first run and the others against it, here or on an installation, and their pictures.

    Names on standard error what differs beside the checkpoints, and where anchors tell that a
    judge has changed. Raises what `comparing.compare_runs` raises; InvalidInput for a run that is
    not here, and what `RemoteGateway.compare` raises for one that is there.
    """
    if server is None:
        directories = [find_run(name) for name in runs]
        found = asyncio.run(compare_runs([each.stored for each in directories], wished))
        # What one run cannot show, another may: they are paired on the same media.
        places: dict[str, Path] = {}
        for directory in directories if pictures else ():
            places |= media_of(directory)
        shown = thumbnails_below(places)
        asyncio.run(warn_of_drift(runs))
    else:
        found, shown = asyncio.run(_compared_there(runs, server, wished, pictures=pictures))
    for name, candidate in zip(found.names[1:], found.candidates, strict=True):
        _name(candidate.differing, name if len(found.candidates) > 1 else "")
    return found, shown


async def _compared_there(
    runs: Sequence[str], server: str, wished: ComparisonRequest, *, pictures: bool
) -> tuple[Comparison, Thumbnail]:
    async with open_gateway(server) as gateway:
        found, sent = await gateway.compare(runs, wished, pictures=pictures)
    return found, lambda benchmark, path: sent.get((benchmark, path))


def refuse_unlike(first: Report, second: Report, *, anyway: bool) -> tuple[Distinction, ...]:
    """Everything in which two runs differ beside the checkpoint and its captions.

    Raises NotComparable naming what differs, unless it is wanted `anyway`: then it is returned
    and named in a warning. A benchmark that only one of them ran is no reason to refuse.
    """
    found = between(first, second)
    if not anyway:
        likeness.refuse_unlike(found)
    _name(found)
    return found


def _name(differing: Sequence[Distinction], run: str = "") -> None:
    for distinction in differing:
        told = f"{run}: {said(distinction)}" if run else said(distinction)
        ERR.print(f"[yellow]Differs:[/yellow] {escape(told)}", soft_wrap=True)
