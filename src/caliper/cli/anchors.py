"""Warns of judge drift: anchors that the judges of two runs judged differently."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape

from caliper.analysis.drift import Sitting, drift
from caliper.cli.console import ERR
from caliper.local.directory import find_run
from caliper.local.reports import kept_sittings
from caliper.pipeline.reports.judge_check import Sittings

_MOST_EXAMPLES = 5


async def warn_of_drift(runs: Sequence[str]) -> None:
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
    return await kept_sittings(directory, directory.read_spec())


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
    return f"{sitting.agreed} of {sitting.scored}{share}"
