"""The delete-one-cluster jackknife, and Student's quantile for its intervals.

Formula: with G clusters, theta the statistic of all of them and theta_c that without
cluster c, the standard error is sqrt((G - 1) / G * sum((theta_c - mean(theta_c))^2)), and
the interval theta -+ t(.975, G - 1) * error. Source: Efron and Tibshirani, An Introduction
to the Bootstrap (1993), chapter 11, with clusters as units; for clusters in evaluations
of language models see Miller, Adding Error Bars to Evals (2024).

Everything is deterministic to the last bit, whatever the order in which a tally was filled:
sums are exact, floats are added by `math.fsum`, which does not depend on order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

from caliper.core.tally import Amount, Sums, add_up

Cell = TypeVar("Cell", bound=Hashable)
Part = frozenset[tuple[str, Amount]]
"""What a cluster adds to one cell, without zeros."""
Parts = tuple[tuple[Cell, Part], ...]
"""What a cluster adds, cell by cell."""

_TWO_SIDED = 0.975
NORMAL = NormalDist().inv_cdf(_TWO_SIDED)


def student(degrees: int) -> float:
    """The .975 quantile of Student's t, for a two-sided interval at 95%.

    Rounded to 9 decimals: reports are compared byte by byte, and the last bits of scipy's
    inversion are not promised between its releases.
    """
    # Here, because importing it takes as long as all the rest of a short command.
    from scipy.special import stdtrit  # noqa: PLC0415

    return round(float(stdtrit(degrees, _TWO_SIDED)), 9)


@dataclass(frozen=True, slots=True)
class JackknifeEstimate:
    """A statistic of all clusters, its standard error, and how many clusters there are.

    `error` is None when it cannot be had: there is one cluster, or leaving one out leaves
    no data. `skew` is how far the clusters that raise the statistic reach further than those
    that lower it: Efron's acceleration, sum(u^3) / (6 sum(u^2)^1.5) with u_c = mean - theta_c
    (An Introduction to the Bootstrap, chapter 14), 0 without an error.
    """

    value: float
    error: float | None
    clusters: int
    skew: float = 0.0

    @property
    def margin(self) -> float | None:
        """Half the width of the interval at 95%."""
        return None if self.error is None else student(self.clusters - 1) * self.error


def jackknife(
    cells: Mapping[Cell, Mapping[str, Sums]],
    statistic: Callable[[Mapping[Cell, Sums]], float | None],
) -> JackknifeEstimate | None:
    """Jackknife `statistic` over the clusters of all `cells`; None when it has no data.

    `cells` holds the sums per cluster of each cell; a cluster is left out of all cells at
    once. Only the cells that a cluster is in are summed anew, and clusters that contribute
    the same amounts to the same cells share one evaluation.
    """
    totals: dict[Cell, Sums] = {cell: add_up(clusters.values()) for cell, clusters in cells.items()}
    value = statistic(totals)
    if value is None:
        return None
    alike = contributions(cells)
    count = alike.total()
    if count < 2:
        return JackknifeEstimate(value, None, count)
    replicates: list[tuple[int, float]] = []
    for parts, times in alike.items():
        without = statistic({**totals, **{cell: less(totals[cell], part) for cell, part in parts}})
        if without is None:
            return JackknifeEstimate(value, None, count)
        replicates.append((times, without))
    mean = math.fsum(times * without for times, without in replicates) / count
    squares = math.fsum(times * (without - mean) ** 2 for times, without in replicates)
    cubes = math.fsum(times * (mean - without) ** 3 for times, without in replicates)
    skew = cubes / (6 * squares**1.5) if squares else 0.0
    return JackknifeEstimate(value, math.sqrt(squares * (count - 1) / count), count, skew)


def contributions(cells: Mapping[Cell, Mapping[str, Sums]]) -> Counter[Parts[Cell]]:
    """What clusters contribute, and how many of them contribute the same. A sum of zero and none
    are the same: where something was withdrawn from a tally, zeros may stay.
    """
    # Equal sums of a tally are mostly one object.
    known: dict[int, Part] = {}

    def part_of(sums: Sums) -> Part:
        found = known.get(id(sums))
        if found is None:
            found = frozenset(item for item in sums.items() if item[1])
            known[id(sums)] = found
        return found

    filled = {cell: clusters for cell, clusters in cells.items() if clusters}
    if len(filled) == 1:
        # Nothing to put together, and no room taken for every cluster.
        ((cell, clusters),) = filled.items()
        return Counter(((cell, part_of(sums)),) for sums in clusters.values())
    found: dict[str, Parts[Cell]] = {}
    # Few contributions differ, and there may be a hundred thousand clusters.
    shared: dict[Parts[Cell], Parts[Cell]] = {}
    for cell, clusters in filled.items():
        for cluster, sums in clusters.items():
            parts = (*found.get(cluster, ()), (cell, part_of(sums)))
            found[cluster] = shared.setdefault(parts, parts)
    return Counter(found.values())


def less(total: Sums, part: Part) -> Sums:
    """The sums without a part of them."""
    rest = dict(total)
    for name, amount in part:
        rest[name] -= amount
    return rest
