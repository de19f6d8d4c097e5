"""Anchors on the terminal: where two runs' judges differ."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape

from caliper.analysis.drift import Sitting, drift
from caliper.cli.console import ERR
from caliper.local.directory import find_run
from caliper.local.reports import kept_sittings
from caliper.pipeline.reports.judge_check import Sittings

_SHOWN = 5


async def warn_of_drift(runs: Sequence[str]) -> None:
    """Say on standard error where the anchors of the first run and of another were judged
    differently. Runs without anchors tell nothing. Raises InvalidInput for what is no run, and
    for an execution.json that cannot be read.
    """
    first, *others = [(name, await _sittings(name)) for name in runs]
    for other in others:
        for benchmark in first[1].keys() & other[1].keys():
            said = _drift(benchmark, first, other)
            if said:
                ERR.print(f"[yellow]Judge drift:[/yellow] {escape(said)}", soft_wrap=True)


async def _sittings(name: str) -> Sittings:
    directory = find_run(name)
    return await kept_sittings(directory, directory.read_spec())


def _drift(name: str, one: tuple[str, Sittings], other: tuple[str, Sittings]) -> str:
    """What there is to say of a benchmark's anchors in two runs; empty where they agree."""
    (first, before), (second, after) = (one[0], one[1][name]), (other[0], other[1][name])
    found = drift(before, after)
    if found is None:
        return (
            f"{name}: {first} and {second} were judged beside other anchors: nothing "
            "tells whether the judge has changed"
        )
    if not found.changed and before.agreement == after.agreement:
        return ""
    listed = ", ".join(found.changed[:_SHOWN])
    more = f" and {len(found.changed) - _SHOWN} more" if len(found.changed) > _SHOWN else ""
    changed = f" ({listed}{more})" if found.changed else ""
    return (
        f"{name}: the judge gave {len(found.changed)} of {found.paired} anchors another "
        f"verdict{changed}; judged as known: {_agreed(before)} in {first}, "
        f"{_agreed(after)} in {second} (p {found.p:.3f}). So much of a difference between "
        "the runs may be the judge's"
    )


def _agreed(sitting: Sitting) -> str:
    share = "" if sitting.agreement is None else f" ({sitting.agreement:.1%})"
    return f"{sitting.agreed} of {sitting.scored}{share}"
