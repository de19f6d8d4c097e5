"""Two runs side by side: how much each figure differs.

Both runs looked at the same media, so the difference is paired: leaving a cluster out
leaves it out of both runs, and what is hard about a picture for both cancels. Clusters are
matched by name, whether one run or both have them; the interval is the jackknife's (see
`jackknife`), and where no cluster moves the difference it is Wilson's (see `intervals`).

The p-value is McNemar's where every cluster has one question that is right or wrong in both
runs, else that of the jackknife's t. Figures of one family, such as the F1 of all tasks, are
adjusted together by Holm's method: of thirteen tasks one differs by chance every other time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from caliper.analysis.intervals import at_bound, clipped, flat, independent, wilson
from caliper.analysis.jackknife import Jackknifed, jackknife
from caliper.analysis.significance import detectable, holm, mcnemar, two_sided
from caliper.core.report import Figure, Kind, Path
from caliper.core.tally import Sums, Tally

_Cells = dict[tuple[int, str], Mapping[str, Sums]]


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of two runs. `value` is second minus first, in the figure's unit.

    `low` and `high` bound the difference at 95 % (None without an interval); `method` is
    jackknife, wilson, or empty. `paired` of all `clusters` are in both runs. `error` is the
    standard error, `p` the two-sided p-value of no difference, `adjusted` that among its
    family, `detectable` the least true difference that would usually be found.
    """

    first: float | None
    second: float | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    clusters: int = 0
    paired: int = 0
    error: float | None = None
    p: float | None = None
    adjusted: float | None = None
    detectable: float | None = None


def compare(figures: Iterable[Figure], first: Tally, second: Tally) -> dict[Path, Difference]:
    """The difference of every figure by its path, in the order of the figures."""
    return adjusted([{figure.path: difference(figure, first, second) for figure in figures}])[0]


def adjusted(compared: Sequence[Mapping[Path, Difference]]) -> list[dict[Path, Difference]]:
    """Differences with the p-values of each family adjusted together.

    `compared` are the differences of one benchmark between one base and several candidates: of
    twenty candidates one looks better by chance, just as of twenty dimensions.
    """
    found = [dict(differences) for differences in compared]
    families: dict[Path, list[tuple[int, Path]]] = {}
    for place, differences in enumerate(found):
        for path in differences:
            families.setdefault(family(path), []).append((place, path))
    for members in families.values():
        together = holm([found[place][path].p for place, path in members])
        for (place, path), p in zip(members, together, strict=True):
            found[place][path] = replace(found[place][path], adjusted=p)
    return found


def family(path: Path) -> Path:
    """What a figure is looked at together with: the same metric of all other dimensions."""
    return (path[0], str(len(path)), path[-1])


def difference(figure: Figure, first: Tally, second: Tally) -> Difference:
    """The difference of one figure, second minus first; not adjusted for others."""
    tallies = (first, second)
    before, after = (
        _valued(figure, {cell: tally.total(cell) for cell in figure.cells}) for tally in tallies
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
    found = replace(found, low=low, high=high, method=method)
    return found if jackknifed is None else _tested(found, jackknifed, _discordant(figure, cells))


def _valued(figure: Figure, sums: Mapping[str, Sums]) -> float | None:
    """The figure's value: a whole number for a count, and for nothing else."""
    value = figure.statistic(sums)
    return value if value is None or figure.kind is Kind.COUNT else float(value)


def _tested(found: Difference, by: Jackknifed, discordant: tuple[int, int] | None) -> Difference:
    if not by.error or flat(by):
        return replace(found, p=None if discordant is None else mcnemar(*discordant))
    degrees = by.clusters - 1
    p = two_sided(by.value, by.error, degrees) if discordant is None else mcnemar(*discordant)
    return replace(found, error=by.error, p=p, detectable=detectable(by.error, degrees))


def _discordant(figure: Figure, cells: _Cells) -> tuple[int, int] | None:
    """How many clusters only the first run has right, and only the second; None unless every
    cluster has one question, right or wrong, in both runs.
    """
    if figure.shares is None or len(figure.cells) > 1:
        return None
    part, whole = figure.shares
    sides = [
        {name: (sums.get(part, 0), sums.get(whole, 0)) for name, sums in clusters.items()}
        for clusters in cells.values()
    ]
    first, second = ({name: had for name, had in side.items() if had[1]} for side in sides)
    simple = all(had in ((0, 1), (1, 1)) for side in (first, second) for had in side.values())
    if first.keys() != second.keys() or not simple:
        return None
    pairs = [(first[name][0], second[name][0]) for name in first]
    return pairs.count((1, 0)), pairs.count((0, 1))


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
