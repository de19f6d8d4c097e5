"""What has to be equal for two runs to tell two checkpoints apart."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from caliper.analysis.compare import Distinction, distinctions
from caliper.cli.console import ERR
from caliper.core.errors import InvalidInput
from caliper.core.report import Report

OF_THE_CHECKPOINT = ("name", "captions", "replicate")
"""What of a spec is expected to differ between two checkpoints."""
_ROLES_OF_THE_CHECKPOINT = ("captioner", "media")
_SHOWN = 10

Anyway = Annotated[
    bool,
    typer.Option(
        "--anyway",
        help="Go on although judge, prompts, settings or data differ. What differs is named.",
    ),
]


def refuse_unlike(first: Report, second: Report, *, anyway: bool) -> tuple[Distinction, ...]:
    """Everything in which two runs differ beside the checkpoint and its captions.

    Raises InvalidInput naming what differs, unless it is wanted `anyway`: then it is returned
    and named in a warning. A benchmark that only one of them ran is no reason to refuse.
    """
    found = distinctions(first, second, ignored=OF_THE_CHECKPOINT)
    names = [frozenset(part.name for part in report.benchmarks) for report in (first, second)]
    alone = names[0] ^ names[1]
    unlike = [distinction for distinction in found if _matters(distinction, alone)]
    if unlike and not anyway:
        told = "; ".join(map(said, unlike[:_SHOWN]))
        more = f"; and {len(unlike) - _SHOWN} more" if len(unlike) > _SHOWN else ""
        raise InvalidInput(
            f"the runs differ in more than their checkpoints: {told}{more}. Their figures do not "
            "tell two checkpoints apart; with --anyway they are compared all the same"
        )
    for distinction in found:
        ERR.print(f"[yellow]Differs:[/yellow] {escape(said(distinction))}", soft_wrap=True)
    return found


def _matters(found: Distinction, alone: frozenset[str]) -> bool:
    """Whether it is neither of the checkpoint nor of a benchmark that one run alone has."""
    if found.name == "coverage_floor":
        # It moves no figure: it says which run is complete.
        return False
    of_checkpoint = found.kind == "model" and found.name in _ROLES_OF_THE_CHECKPOINT
    of_one_run = found.kind == "benchmark" or not alone.isdisjoint(found.name.split("."))
    return not of_checkpoint and not of_one_run


def said(found: Distinction) -> str:
    """One distinction in words."""
    where = f"{found.benchmark} " if found.benchmark else ""
    return f"{where}{found.kind} {found.name}: {found.first} / {found.second}"
