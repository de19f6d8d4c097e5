"""Warnings about captions that may not be honest, and about runs that were judged in part."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from caliper.adapters.phrases import in_part, percent
from caliper.benchmarks.registry import benchmark
from caliper.core.report import Report
from caliper.core.suspicion import STUFFING, Suspicious

if TYPE_CHECKING:
    # It takes time that `evaluate` does not need.
    from caliper.pipeline.comparing.comparison import Side


def injection_note(finding: Suspicious) -> str:
    """How many captions may contain prompt injections, and by which signs.

    Empty if no caption was examined.
    """
    if not finding.examined:
        return ""
    if not finding.captions:
        return f"None of {finding.examined:,} captions shows signs of prompt injection."
    return (
        f"{finding.captions:,} of {finding.examined:,} captions may contain prompt injections "
        f"({_signs(finding, finding.signs)}). Scores are unchanged."
    )


def stuffing_warnings(report: Report) -> tuple[str, ...]:
    """Warnings that precede all figures, one per benchmark with many stuffed captions.

    A stuffed caption shows signs of stating everything.
    """
    return tuple(
        f"Signs of stuffing in {part.title}: {part.suspicious.stuffed:,} of "
        f"{part.suspicious.examined:,} captions ({_signs(part.suspicious, STUFFING)}). A "
        "caption that lists everything is right about something. Do not compare these scores "
        "with others; `caliper gate` is inconclusive."
        for part in report.benchmarks
        if part.suspicious.stuffing
    )


def side_warnings(name: str, side: Side) -> tuple[str, ...]:
    """The warnings for a compared run that was judged in part, or has stuffed captions."""
    shares = ", ".join(
        f"{benchmark(part).title} ({text.removeprefix('judged in part: ')})"
        for part, coverage in side.coverage.items()
        if (text := in_part(coverage))
    )
    in_parts = f"{name} is judged in part: {shares}." if shares else ""
    return tuple(filter(None, (in_parts, _stuffing_warning(name, side))))


def _stuffing_warning(name: str, side: Side) -> str:
    shares = ", ".join(
        f"{benchmark(part).title} ({percent(share)} of its captions)"
        for part, share in side.stuffed.items()
    )
    return f"{name} shows signs of stuffing in {shares}." if shares else ""


def _signs(finding: Suspicious, names: Collection[str]) -> str:
    return ", ".join(
        f"{sign} {number:,}" for sign, number in finding.signs.items() if sign in names
    )
