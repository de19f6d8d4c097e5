"""Anchors on the terminal: where two runs' judges differ."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape

from caliper.analysis.drift import Sitting
from caliper.cli.console import ERR
from caliper.standalone.anchored import Drifted, drifted
from caliper.standalone.directory import find_run

_SHOWN = 5


def warn_of_drift(runs: Sequence[str]) -> None:
    """Say on standard error where the anchors of the first run and of another were judged
    differently. Runs without anchors tell nothing. Raises InvalidInput for what is no run.
    """
    first, *others = runs
    for other in others:
        for found in drifted(find_run(first), find_run(other)):
            ERR.print(
                f"[yellow]Judge drift:[/yellow] {escape(_said(found, first, other))}",
                soft_wrap=True,
            )


def _said(found: Drifted, first: str, second: str) -> str:
    drift = found.drift
    if drift is None:
        return (
            f"{found.benchmark}: {first} and {second} were judged beside other anchors: nothing "
            "tells whether the judge has changed"
        )
    listed = ", ".join(drift.changed[:_SHOWN])
    more = f" and {len(drift.changed) - _SHOWN} more" if len(drift.changed) > _SHOWN else ""
    changed = f" ({listed}{more})" if drift.changed else ""
    return (
        f"{found.benchmark}: the judge gave {len(drift.changed)} of {drift.paired} anchors another "
        f"verdict{changed}; judged as known: {_agreed(found.first)} in {first}, "
        f"{_agreed(found.second)} in {second} (p {drift.p:.3f}). So much of a difference between "
        "the runs may be the judge's"
    )


def _agreed(sitting: Sitting) -> str:
    share = "" if sitting.agreement is None else f" ({sitting.agreement:.1%})"
    return f"{sitting.agreed} of {sitting.scored}{share}"
