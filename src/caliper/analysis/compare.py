"""Paired comparison of two runs, figure by figure.

Both runs are about the same media, so the difference is paired: leaving a cluster out leaves it
out of both runs, and difficulty that a picture has for both cancels. Clusters are matched by
name, including those that only one run has. The interval is the jackknife's (see `jackknife`); if
all clusters move the difference alike, or none moves it, the interval is exact (see `exact`).
Only clusters that contribute to a figure's denominator count as observations, and the run with
fewer of them sets the number. If no cluster moves a part of a figure, or one of the runs, its
uncertainty is added to the standard error.

A figure over several dimensions is compared over those that both runs have, and every figure over
the questions that are scored in both: else a run would gain by having no score where it is wrong.

The p-value is McNemar's if every cluster has one question that is right or wrong in both runs,
else that of the jackknife's t, or the sign test's if the jackknife has no spread. The difference
of every figure but counts has one. Figures of one family, such as the F1 of all tasks, are
adjusted together by Holm's method: among thirteen tasks, one differs by chance every other time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from caliper.analysis.constant_part import error_left_open, fewer_observations, subtract
from caliper.analysis.exact import Cells, constant_interval, sign_test
from caliper.analysis.intervals import clip, is_constant
from caliper.analysis.jackknife import JackknifeEstimate, jackknife, student
from caliper.analysis.observations import contributors, value_of
from caliper.analysis.significance import (
    detectable_difference,
    detectable_mcnemar,
    holm,
    mcnemar,
    two_sided,
)
from caliper.core.report import Figure, Kind, Path
from caliper.core.tally import Sums, Tally


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a figure between two runs. `value` is second minus first, in its unit, over
    the questions scored in both; `first` and `second` are over all that each run has.

    `low` and `high` are the 95% interval (None without one); `method` is jackknife, exact, or
    empty. `clusters` counts the clusters that contribute to the figure in either run, `paired`
    those that do in both. `error` is the standard error with its `degrees` of freedom, `p` the
    two-sided p-value of no difference, `adjusted` the p-value adjusted within its family,
    `detectable` the least true difference that would usually be found, and `skew` that of the
    clusters (see `jackknife`).

    If one run lacks dimensions that the other has, the comparison is `over` the shared ones and
    `without` the others; both are empty otherwise.

    If all clusters agree, there is no standard error: then `alike` is the least number of
    independent observations they amount to, and `most` how much the figure can differ.
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
    def leaves_out(self) -> bool:
        """Whether the figures are not over the same questions, and `value` is not second minus
        first.
        """
        if self.first is None or self.second is None:
            return False
        return self.value is None or self.value != self.second - self.first

    @property
    def untested_reason(self) -> str:
        """Why there is no p-value; empty where there is one."""
        if self.p is not None:
            return ""
        return "no data" if self.value is None else "not tested"


Tallies = tuple[Tally, Tally]
"""The tallies of the first and the second run."""


def compare(
    figures: Iterable[Figure],
    first: Tally,
    second: Tally,
    base: Iterable[Figure] = (),
    shared: Tallies | None = None,
) -> dict[Path, Difference]:
    """The difference of every figure by its path, in the order of the figures. `base` and `shared`
    are as for `difference`.
    """
    base_figures = {figure.path: figure for figure in base}
    return adjust(
        [
            {
                figure.path: difference(
                    figure, first, second, base_figures.get(figure.path), shared
                )
                for figure in figures
            }
        ]
    )[0]


def adjust(comparisons: Sequence[Mapping[Path, Difference]]) -> list[dict[Path, Difference]]:
    """Differences with the p-values of each family adjusted together.

    `comparisons` are the differences of one benchmark between one base and several candidates: one
    of twenty candidates looks better by chance, just like one of twenty dimensions.
    """
    results = [dict(differences) for differences in comparisons]
    families: dict[Path, list[tuple[int, Path]]] = {}
    for place, differences in enumerate(results):
        for path in differences:
            families.setdefault(family(path), []).append((place, path))
    for members in families.values():
        p_values = holm([results[place][path].p for place, path in members])
        for (place, path), p in zip(members, p_values, strict=True):
            results[place][path] = replace(results[place][path], adjusted=p)
    return results


def family(path: Path) -> Path:
    """The family of a figure: the same metric of all dimensions."""
    return (path[0], str(len(path)), path[-1])


def difference(
    figure: Figure,
    first: Tally,
    second: Tally,
    base: Figure | None = None,
    shared: Tallies | None = None,
) -> Difference:
    """The difference of one figure, second minus first; not adjusted for others. `base` is the
    figure of the first run, if its dimensions may differ, and `shared` are both tallies of the
    questions scored in both runs, if one of them has more.
    """
    own = (first, second)
    tallies = shared or own
    sides = ((base or figure, first), *((figure, tally) for tally in (second, *(shared or ()))))
    figure, over, without = _over_shared_dimensions(figure, sides)
    before, after = (_value(figure, _totals(figure, tally)) for tally in own)
    names = [
        contributors([tally.clusters(cell) for cell in figure.cells], figure.divisor)
        for tally in tallies
    ]
    result = Difference(
        before,
        after,
        clusters=len(names[0] | names[1]),
        paired=len(names[0] & names[1]),
        over=over,
        without=without,
    )
    if before is None or after is None:
        return result
    if shared and figure.kind is not Kind.COUNT:
        before, after = (_value(figure, _totals(figure, tally)) for tally in tallies)
    if before is None or after is None:
        return result
    result = replace(result, value=after - before)
    if figure.kind in (Kind.COUNT, Kind.PLAIN):
        return result
    cells = {
        (run, cell): tally.clusters(cell)
        for run, tally in enumerate(tallies)
        for cell in figure.cells
    }
    jackknifed = jackknife(cells, partial(subtract, figure))
    if jackknifed is None:
        return result
    # The run with fewer observations determines the degrees of freedom.
    degrees = max(1, min(map(len, names)) - 1)
    return _with_p_value(_with_interval(result, jackknifed, degrees, figure, cells), figure, cells)


def _totals(figure: Figure, tally: Tally) -> dict[str, Sums]:
    return {cell: tally.total(cell) for cell in figure.cells}


def _over_shared_dimensions(
    figure: Figure, sides: Sequence[tuple[Figure, Tally]]
) -> tuple[Figure, tuple[str, ...], tuple[str, ...]]:
    """The figure over the dimensions that all sides have, the names of these dimensions, and those
    of the others; no names if the dimensions are the same.
    """
    names = [
        [part.dimension for part in one.parts if value_of(part, _totals(part, tally)) is not None]
        for one, tally in sides
    ]
    shared = tuple(name for name in names[1] if all(name in each for each in names))
    without = tuple(name for name in dict.fromkeys(chain(*names)) if name not in shared)
    if not without:
        return figure, (), ()
    cells = {cell for part in figure.parts if part.dimension in shared for cell in part.cells}
    return replace(figure, cells=tuple(filter(cells.__contains__, figure.cells))), shared, without


def _value(figure: Figure, sums: Mapping[str, Sums]) -> float | None:
    """The figure's value: a float, or an integer for a count."""
    value = figure.statistic(sums)
    return value if value is None or figure.kind is Kind.COUNT else float(value)


def _with_interval(
    result: Difference, by: JackknifeEstimate, degrees: int, figure: Figure, cells: Cells
) -> Difference:
    """Add the standard error and interval, unless leaving one cluster out leaves no data, or a
    figure without bounds has no spread.
    """
    most = figure.bounds[1] - figure.bounds[0]
    if by.error is None:
        return result
    if not is_constant(by):
        error = math.hypot(by.error, error_left_open(figure, by, cells))
        margin = student(degrees) * error
        low, high = clip(by.value, (by.value - margin, by.value + margin), (-most, most))
        result = replace(result, low=low, high=high, method="jackknife")
        return replace(result, error=error, degrees=degrees, skew=by.skew)
    if not math.isfinite(most):
        return result
    alike = fewer_observations(figure, cells)
    low, high = clip(by.value, constant_interval(by.value, most, alike), (-most, most))
    return replace(result, low=low, high=high, method="exact", alike=alike, most=most)


def _with_p_value(result: Difference, figure: Figure, cells: Cells) -> Difference:
    """Add the p-value and the least detectable difference."""
    if (pairs := _pairs(figure, cells)) is not None:
        unit = figure.scale / pairs.questions
        least = detectable_mcnemar(pairs.lost + pairs.won) * unit
        return replace(result, p=mcnemar(pairs.lost, pairs.won), detectable=least)
    if result.error is None or result.degrees is None or result.value is None:
        return replace(result, p=sign_test(cells, partial(subtract, figure)))
    p = two_sided(result.value, result.error, result.degrees)
    return replace(result, p=p, detectable=detectable_difference(result.error, result.degrees))


class _Pairs(NamedTuple):
    """Questions that both runs have, one per cluster: `lost` are right only in the first run, `won`
    only in the second.
    """

    questions: int
    lost: int
    won: int


def _pairs(figure: Figure, cells: Cells) -> _Pairs | None:
    """The paired questions; None unless every cluster has one, right or wrong, in both runs."""
    if figure.shares is None or len(figure.cells) > 1:
        return None
    part, whole = figure.shares
    sides = [
        {name: (sums.get(part, 0), sums.get(whole, 0)) for name, sums in clusters.items()}
        for clusters in cells.values()
    ]
    first, second = ({name: counts for name, counts in side.items() if counts[1]} for side in sides)
    simple = all(counts in ((0, 1), (1, 1)) for side in (first, second) for counts in side.values())
    if not first or first.keys() != second.keys() or not simple:
        return None
    pairs = [(first[name][0], second[name][0]) for name in first]
    return _Pairs(len(pairs), pairs.count((1, 0)), pairs.count((0, 1)))
