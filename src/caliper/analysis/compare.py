"""Two runs side by side: how much each figure differs.

Both runs looked at the same media, so the difference is paired: leaving a cluster out
leaves it out of both runs, and what is hard about a picture for both cancels. Clusters are
matched by name, whether one run or both have them; the interval is the jackknife's (see
`jackknife`), and where all clusters move the difference alike, or none moves it, it is exact
(see `exact`). Only clusters that contribute to a figure's denominator count as observations of it,
and of both runs those of the one that has fewer. What a part of a figure, or one of the runs,
leaves open because none of its clusters moves it is added to the standard error.

A figure over several dimensions is compared over those that both runs have.

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

from caliper.analysis.constant_part import error_left_open, fewer_observations, subtract
from caliper.analysis.exact import Cells, alike_bounds, sign_test
from caliper.analysis.intervals import clipped, flat
from caliper.analysis.jackknife import JackknifeEstimate, jackknife, student
from caliper.analysis.observations import contributors, value_of
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

    `low` and `high` bound the difference at 95% (None without an interval); `method` is
    jackknife, exact, or empty. `paired` of all `clusters` that contribute to the figure do so in
    both runs. `error` is the standard error with its `degrees` of freedom, `p` the two-sided
    p-value of no difference, `adjusted` that among its family, `detectable` the least true
    difference that would usually be found, `skew` that of the clusters (see `jackknife`).

    Where one run lacks dimensions that the other has, all of it is `over` those that both have,
    `without` the others; both are empty otherwise.

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
    degrees: int | None = None
    over: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def untested(self) -> str:
        """Why there is no p-value; empty where there is one."""
        if self.p is not None:
            return ""
        return "no data" if self.value is None else "not tested"


def compare(
    figures: Iterable[Figure], first: Tally, second: Tally, base: Iterable[Figure] = ()
) -> dict[Path, Difference]:
    """The difference of every figure by its path, in the order of the figures. `base` are those
    of the first run, where it may have other dimensions.
    """
    theirs = {figure.path: figure for figure in base}
    return adjusted(
        [
            {
                figure.path: difference(figure, first, second, theirs.get(figure.path))
                for figure in figures
            }
        ]
    )[0]


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


def difference(
    figure: Figure, first: Tally, second: Tally, base: Figure | None = None
) -> Difference:
    """The difference of one figure, second minus first; not adjusted for others. `base` is the
    figure as the first run has it, where that may have other dimensions.
    """
    tallies = (first, second)
    figure, over, without = _shared(figure, base or figure, tallies)
    before, after = (_valued(figure, _totals(figure, tally)) for tally in tallies)
    names = [
        contributors([tally.clusters(cell) for cell in figure.cells], figure.divisor)
        for tally in tallies
    ]
    found = Difference(
        before,
        after,
        clusters=len(names[0] | names[1]),
        paired=len(names[0] & names[1]),
        over=over,
        without=without,
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
    jackknifed = jackknife(cells, partial(subtract, figure))
    if jackknifed is None:
        return found
    # Of two runs the one with fewer observations says how sure the difference is.
    degrees = max(1, min(map(len, names)) - 1)
    return _tested(_bounded(found, jackknifed, degrees, figure, cells), figure, cells)


def _totals(figure: Figure, tally: Tally) -> dict[str, Sums]:
    return {cell: tally.total(cell) for cell in figure.cells}


def _shared(
    figure: Figure, base: Figure, tallies: Sequence[Tally]
) -> tuple[Figure, tuple[str, ...], tuple[str, ...]]:
    """The figure over the dimensions that both runs have; which these are and which others there
    are, where one of the runs has others.
    """
    sides = [
        [part.dimension for part in one.parts if value_of(part, _totals(part, tally)) is not None]
        for one, tally in zip((base, figure), tallies, strict=True)
    ]
    theirs, mine = sides
    shared = tuple(name for name in mine if name in theirs)
    without = tuple(name for name in dict.fromkeys(theirs + mine) if name not in shared)
    if not without:
        return figure, (), ()
    kept = {cell for part in figure.parts if part.dimension in shared for cell in part.cells}
    return replace(figure, cells=tuple(filter(kept.__contains__, figure.cells))), shared, without


def _valued(figure: Figure, sums: Mapping[str, Sums]) -> float | None:
    """The figure's value: a whole number for a count, and for nothing else."""
    value = figure.statistic(sums)
    return value if value is None or figure.kind is Kind.COUNT else float(value)


def _bounded(
    found: Difference, by: JackknifeEstimate, degrees: int, figure: Figure, cells: Cells
) -> Difference:
    """With its standard error and interval; without where leaving one cluster out leaves no data,
    and where a figure without bounds has no spread.
    """
    most = figure.bounds[1] - figure.bounds[0]
    if by.error is None:
        return found
    if not flat(by):
        error = math.hypot(by.error, error_left_open(figure, by, cells))
        margin = student(degrees) * error
        low, high = clipped(by.value, (by.value - margin, by.value + margin), (-most, most))
        found = replace(found, low=low, high=high, method="jackknife")
        return replace(found, error=error, degrees=degrees, skew=by.skew)
    if not math.isfinite(most):
        return found
    alike = fewer_observations(figure, cells)
    low, high = clipped(by.value, alike_bounds(by.value, most, alike), (-most, most))
    return replace(found, low=low, high=high, method="exact", alike=alike, most=most)


def _tested(found: Difference, figure: Figure, cells: Cells) -> Difference:
    """With its p-value and the least difference that would be found."""
    if (pairs := _pairs(figure, cells)) is not None:
        unit = figure.scale / pairs.questions
        least = detectable_by_mcnemar(pairs.lost + pairs.won) * unit
        return replace(found, p=mcnemar(pairs.lost, pairs.won), detectable=least)
    if found.error is None or found.degrees is None or found.value is None:
        return replace(found, p=sign_test(cells, partial(subtract, figure)))
    p = two_sided(found.value, found.error, found.degrees)
    return replace(found, p=p, detectable=detectable(found.error, found.degrees))


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
    if not first or first.keys() != second.keys() or not simple:
        return None
    pairs = [(first[name][0], second[name][0]) for name in first]
    return _Pairs(len(pairs), pairs.count((1, 0)), pairs.count((0, 1)))
