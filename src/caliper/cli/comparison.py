"""Options and warnings of `compare`, `gate` and `leaderboard`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.pages.page_data import Thumbnail
from caliper.analysis import comparability as likeness
from caliper.analysis.comparability import Distinction, describe, setup_differences
from caliper.cli.console import ERR
from caliper.core.report import Report
from caliper.local.comparison import judge_drift, open_comparison
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest

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


def compare_and_warn(
    runs: Sequence[str], server: str | None, request: ComparisonRequest, *, pictures: bool = False
) -> tuple[Comparison, Thumbnail]:
    """`open_comparison`, reporting on standard error what differs besides the checkpoints, and
    drift of the judge between local runs.
    """
    comparison, thumbnail = asyncio.run(_open(runs, server, request, pictures=pictures))
    for name, candidate in zip(comparison.names[1:], comparison.candidates, strict=True):
        warn_of_distinctions(
            candidate.setup_differences, name if len(comparison.candidates) > 1 else ""
        )
    return comparison, thumbnail


async def _open(
    runs: Sequence[str], server: str | None, request: ComparisonRequest, *, pictures: bool
) -> tuple[Comparison, Thumbnail]:
    opened = await open_comparison(runs, server, request, pictures=pictures)
    if server is None:
        async for warning in judge_drift(runs):
            ERR.print(f"[yellow]Judge drift:[/yellow] {escape(warning)}", soft_wrap=True)
    return opened


def check_comparable(first: Report, second: Report, *, anyway: bool) -> tuple[Distinction, ...]:
    """The differences between two runs besides the checkpoint and its captions.

    Raises NotComparable naming the differences; with `anyway` they are returned, and named in a
    warning. A benchmark that only one of them ran does not count.
    """
    distinctions = setup_differences(first, second)
    if not anyway:
        likeness.check_comparable(distinctions)
    warn_of_distinctions(distinctions)
    return distinctions


def warn_of_distinctions(differing: Sequence[Distinction], run: str = "") -> None:
    """Print to standard error what differs between two runs besides the checkpoints."""
    for distinction in differing:
        text = f"{run}: {describe(distinction)}" if run else describe(distinction)
        ERR.print(f"[yellow]Differs:[/yellow] {escape(text)}", soft_wrap=True)
