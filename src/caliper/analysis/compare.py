"""Two runs side by side: how much each figure differs, and what else differs between them.

Both runs looked at the same media, so the difference is paired: leaving a cluster out
leaves it out of both runs, and what is hard about a picture for both cancels. Clusters are
matched by name, whether one run or both have them; the interval is the jackknife's (see
`jackknife`), and where no cluster moves the difference it is Wilson's (see `intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from caliper.analysis.intervals import at_bound, clipped, flat, independent, wilson
from caliper.analysis.jackknife import Jackknifed, jackknife
from caliper.core.report import BenchmarkReport, Figure, Kind, Path, Report, leaves
from caliper.core.tally import Sums, Tally

_Cells = dict[tuple[int, str], Mapping[str, Sums]]
_ABSENT = "(none)"


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of two runs. `value` is second minus first, in the figure's unit.

    `low` and `high` bound the difference at 95 % (None without an interval); `method` is
    jackknife, wilson, or empty. `paired` of all `clusters` are in both runs.
    """

    first: float | None
    second: float | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    clusters: int = 0
    paired: int = 0


def compare(figures: Iterable[Figure], first: Tally, second: Tally) -> dict[Path, Difference]:
    """The difference of every figure by its path, in the order of the figures."""
    return {figure.path: _difference(figure, first, second) for figure in figures}


def _difference(figure: Figure, first: Tally, second: Tally) -> Difference:
    tallies = (first, second)
    before, after = (
        figure.statistic({cell: tally.total(cell) for cell in figure.cells}) for tally in tallies
    )
    names = [{name for cell in figure.cells for name in tally.clusters(cell)} for tally in tallies]
    found = Difference(
        before, after, clusters=len(names[0] | names[1]), paired=len(names[0] & names[1])
    )
    if before is None or after is None:
        return found
    found = replace(found, value=after - before)
    if figure.kind in (Kind.COUNT, Kind.PLAIN):
        return found
    cells: _Cells = {
        (run, cell): tally.clusters(cell)
        for run, tally in enumerate(tallies)
        for cell in figure.cells
    }
    jackknifed = jackknife(cells, lambda sums: _subtract(figure, sums))
    width = figure.bounds[1] - figure.bounds[0]
    (low, high), method = _interval(jackknifed, cells, (-width, width))
    return replace(found, low=low, high=high, method=method)


def _subtract(figure: Figure, sums: Mapping[tuple[int, str], Sums]) -> float | None:
    before, after = (
        figure.statistic({cell: sums[run, cell] for cell in figure.cells}) for run in (0, 1)
    )
    return None if before is None or after is None else after - before


def _interval(
    found: Jackknifed | None, cells: _Cells, bounds: tuple[float, float]
) -> tuple[tuple[float | None, float | None], str]:
    if found is None or found.margin is None:
        return (None, None), ""
    if not flat(found):
        interval = (found.value - found.margin, found.value + found.margin)
        return clipped(found.value, interval, bounds), "jackknife"
    if _alike(cells) and math.isfinite(bounds[1]):
        # No cluster of n told the runs apart, so that a share of up to Wilson's bound may.
        most = wilson(0.0, independent(cells.values()))[1] * bounds[1]
        return (-most, most), "wilson"
    interval_at_bound = at_bound(found.value, bounds, independent(cells.values()))
    if interval_at_bound is None:
        return (None, None), ""
    return clipped(found.value, interval_at_bound, bounds), "wilson"


def _alike(cells: _Cells) -> bool:
    return all(clusters == cells[1 - run, cell] for (run, cell), clusters in cells.items())


@dataclass(frozen=True, slots=True)
class Distinction:
    """One thing beside the captions in which two runs differ.

    `kind` is benchmark, model, setting or spec; `benchmark` is empty for spec.
    """

    benchmark: str
    kind: str
    name: str
    first: str
    second: str


def distinctions(
    first: Report, second: Report, *, ignored: Collection[str] = ()
) -> tuple[Distinction, ...]:
    """Everything beside the captions in which two runs differ, so that it can be said.

    The judge decides the numbers: differences between runs with another judge, prompts or
    settings are not differences between checkpoints (protocols, "Common to all three").
    `ignored` names top-level keys of `Report.spec` that are expected to differ: those that
    tell of the checkpoint and its captions.
    """
    found: list[Distinction] = []
    before = {benchmark.name: benchmark for benchmark in first.benchmarks}
    after = {benchmark.name: benchmark for benchmark in second.benchmarks}
    for name in sorted(before.keys() | after.keys()):
        if name in before and name in after:
            found.extend(_benchmark_distinctions(before[name], after[name]))
        else:
            sides = ["evaluated" if name in side else _ABSENT for side in (before, after)]
            found.append(Distinction(name, "benchmark", name, *sides))
    specs = [
        dict(leaves({key: spec[key] for key in spec if key not in ignored}))
        for spec in (first.spec, second.spec)
    ]
    found.extend(_unequal("", "spec", specs[0], specs[1]))
    return tuple(found)


def _benchmark_distinctions(
    first: BenchmarkReport, second: BenchmarkReport
) -> Iterator[Distinction]:
    yield from _unequal(first.name, "model", first.models, second.models)
    yield from _unequal(first.name, "setting", first.settings, second.settings)


def _unequal(
    benchmark: str, kind: str, first: Mapping[str, str], second: Mapping[str, str]
) -> Iterator[Distinction]:
    for name in sorted(first.keys() | second.keys()):
        before, after = first.get(name, _ABSENT), second.get(name, _ABSENT)
        if before != after:
            yield Distinction(benchmark, kind, name, before, after)
