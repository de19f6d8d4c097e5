"""Two runs side by side: how much each figure differs.

Both runs looked at the same media, so the difference is paired: leaving a cluster out
leaves it out of both runs, and what is hard about a picture for both cancels. Clusters are
matched by name, whether one run or both have them; the interval is the jackknife's (see
`jackknife`), and where all clusters move the difference alike, or none moves it, it is exact
(see `exact`).

The p-value is McNemar's where every cluster has one question that is right or wrong in both
runs, else that of the jackknife's t, and the sign test's where the jackknife has no spread. Every
difference of a figure that is no count has one. Figures of one family, such as the F1 of all
tasks, are adjusted together by Holm's method: of thirteen tasks one differs by chance every other
time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from caliper.analysis.exact import Cells, Place, alike_bounds, sign_test
from caliper.analysis.intervals import clipped, flat, independent
from caliper.analysis.jackknife import Jackknifed, jackknife
from caliper.analysis.significance import (
    detectable,
    detectable_by_mcnemar,
    holm,
    mcnemar,
    two_sided,
)
from caliper.core.report import Figure, Kind, Path
from caliper.core.tally import Sums, Tally


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of two runs. `value` is second minus first, in the figure's unit.

    `low` and `high` bound the difference at 95 % (None without an interval); `method` is
    jackknife, exact, or empty. `paired` of all `clusters` are in both runs. `error` is the
    standard error, `p` the two-sided p-value of no difference, `adjusted` that among its
    family, `detectable` the least true difference that would usually be found, `skew` that of
    the clusters (see `jackknife`).

    Where all clusters tell the same there is no standard error: then `alike` is how many
    independent observations they are at least, and `most` how much the figure can differ.
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
    skew: float | None = None
    alike: float | None = None
    most: float | None = None

    @property
    def untested(self) -> str:
        """Why there is no p-value; empty where there is one."""
        if self.p is not None:
            return ""
        return "no data" if self.value is None else "not tested"


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
    cells = {
        (run, cell): tally.clusters(cell)
        for run, tally in enumerate(tallies)
        for cell in figure.cells
    }
    jackknifed = jackknife(cells, partial(_subtract, figure))
    if jackknifed is None:
        return found
    return _tested(_bounded(found, jackknifed, figure, cells), jackknifed, figure, cells)


def _valued(figure: Figure, sums: Mapping[str, Sums]) -> float | None:
    """The figure's value: a whole number for a count, and for nothing else."""
    value = figure.statistic(sums)
    return value if value is None or figure.kind is Kind.COUNT else float(value)


def _bounded(found: Difference, by: Jackknifed, figure: Figure, cells: Cells) -> Difference:
    """With its standard error and interval; without where leaving one cluster out leaves no data,
    and where a figure without bounds has no spread.
    """
    most = figure.bounds[1] - figure.bounds[0]
    if by.margin is None:
        return found
    if not flat(by):
        interval = clipped(by.value, (by.value - by.margin, by.value + by.margin), (-most, most))
        found = replace(found, low=interval[0], high=interval[1], method="jackknife")
        return replace(found, error=by.error, skew=by.skew)
    if not math.isfinite(most):
        return found
    seen = independent([{**cells[0, cell], **cells[1, cell]} for cell in figure.cells])
    low, high = clipped(by.value, alike_bounds(by.value, most, seen), (-most, most))
    return replace(found, low=low, high=high, method="exact", alike=seen, most=most)


def _tested(found: Difference, by: Jackknifed, figure: Figure, cells: Cells) -> Difference:
    """With its p-value and the least difference that would be found."""
    if (pairs := _pairs(figure, cells)) is not None:
        unit = figure.scale / pairs.questions
        least = detectable_by_mcnemar(pairs.lost + pairs.won) * unit
        return replace(found, p=mcnemar(pairs.lost, pairs.won), detectable=least)
    if found.error is None:
        return replace(found, p=sign_test(cells, partial(_subtract, figure)))
    degrees = by.clusters - 1
    p = two_sided(by.value, found.error, degrees)
    return replace(found, p=p, detectable=detectable(found.error, degrees))


class _Pairs(NamedTuple):
    """Questions that both runs have, one a cluster: how many only the first has right, and only
    the second.
    """

    questions: int
    lost: int
    won: int


def _pairs(figure: Figure, cells: Cells) -> _Pairs | None:
    """None unless every cluster has one question, right or wrong, in both runs."""
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
    return _Pairs(len(pairs), pairs.count((1, 0)), pairs.count((0, 1)))


def _subtract(figure: Figure, sums: Mapping[Place, Sums]) -> float | None:
    before, after = (
        figure.statistic({cell: sums[run, cell] for cell in figure.cells}) for run in (0, 1)
    )
    return None if before is None or after is None else after - before
