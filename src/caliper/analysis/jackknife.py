"""The delete-one-cluster jackknife, and Student's quantile for its intervals.

Formula: with G clusters, theta the statistic of all of them and theta_c the statistic without
cluster c, the standard error is sqrt((G - 1) / G * sum((theta_c - mean(theta_c))^2)), and
the interval is theta ± t(0.975, G - 1) * error. Source: Efron and Tibshirani, An Introduction
to the Bootstrap (1993), chapter 11, with clusters as units; for clusters in evaluations
of language models see Miller, Adding Error Bars to Evals (2024).

Everything is deterministic to the last bit, whatever the order in which a tally was filled: sums
are exact, and `math.fsum` does not depend on order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

from caliper.analysis.distributions import student_quantile
from caliper.core.tally import Amount, Sums, add_up, distinct

Cell = TypeVar("Cell", bound=Hashable)
Part = frozenset[tuple[str, Amount]]
"""The contribution of a cluster to one cell, without zeros."""
Parts = tuple[tuple[Cell, Part], ...]
"""The contributions of a cluster, cell by cell."""

_TWO_SIDED = 0.975
NORMAL = NormalDist().inv_cdf(_TWO_SIDED)


def student(degrees: int) -> float:
    """The 0.975 quantile of Student's t, for a two-sided 95% interval.

    Rounded to 9 decimals: reports are compared byte by byte.
    """
    return round(student_quantile(degrees, _TWO_SIDED), 9)


@dataclass(frozen=True, slots=True)
class JackknifeEstimate:
    """A statistic of all clusters, and its standard error.

    `error` is None if there is only one cluster, or if leaving one out leaves no data. `skew` is
    positive if clusters that raise the statistic reach further than those that lower it: Efron's
    acceleration, sum(u^3) / (6 sum(u^2)^1.5) with u_c = mean - theta_c (An Introduction to the
    Bootstrap, chapter 14); 0 without an error.
    """

    value: float
    error: float | None
    skew: float = 0.0


def jackknife(
    cells: Mapping[Cell, Mapping[str, Sums]],
    statistic: Callable[[Mapping[Cell, Sums]], float | None],
) -> JackknifeEstimate | None:
    """Jackknife `statistic` over the clusters of all `cells`; None if it has no data.

    `cells` holds the sums per cluster of each cell; a cluster is left out of all cells at once.
    Only its own cells are summed again, and clusters with the same amounts in the same cells share
    one evaluation.
    """
    totals: dict[Cell, Sums] = {cell: add_up(clusters.values()) for cell, clusters in cells.items()}
    value = statistic(totals)
    if value is None:
        return None
    groups = contributions(cells)
    count = groups.total()
    if count < 2:
        return JackknifeEstimate(value, None)
    replicates: list[tuple[int, float]] = []
    for parts, times in groups.items():
        without = statistic(
            {**totals, **{cell: subtract_part(totals[cell], part) for cell, part in parts}}
        )
        if without is None:
            return JackknifeEstimate(value, None)
        replicates.append((times, without))
    mean = math.fsum(times * without for times, without in replicates) / count
    squares = math.fsum(times * (without - mean) ** 2 for times, without in replicates)
    cubes = math.fsum(times * (mean - without) ** 3 for times, without in replicates)
    skew = cubes / (6 * squares**1.5) if squares else 0.0
    return JackknifeEstimate(value, math.sqrt(squares * (count - 1) / count), skew)


def contributions(cells: Mapping[Cell, Mapping[str, Sums]]) -> Counter[Parts[Cell]]:
    """The distinct contributions of clusters, and how many clusters make each. A zero sum is the
    same as none: withdrawing from a tally may leave zeros behind.
    """
    filled = {cell: clusters for cell, clusters in cells.items() if clusters}
    if len(filled) == 1:
        # Nothing to combine, so no dictionary of all clusters is needed.
        ((cell, clusters),) = filled.items()
        groups: Counter[Parts[Cell]] = Counter()
        for sums, times in distinct(clusters.values()):
            groups[((cell, _part(sums)),)] += times
        return groups
    by_cluster: dict[str, Parts[Cell]] = {}
    # A hundred thousand clusters may have few distinct contributions.
    interned: dict[Parts[Cell], Parts[Cell]] = {}
    for cell, clusters in filled.items():
        own = {id(sums): (cell, _part(sums)) for sums, _ in distinct(clusters.values())}
        for cluster, sums in clusters.items():
            parts = (*by_cluster.get(cluster, ()), own[id(sums)])
            by_cluster[cluster] = interned.setdefault(parts, parts)
    return Counter(by_cluster.values())


def _part(sums: Sums) -> Part:
    return frozenset([item for item in sums.items() if item[1]])


def subtract_part(total: Sums, part: Part) -> Sums:
    """The sums minus a part of them."""
    rest = dict(total)
    for name, amount in part:
        rest[name] -= amount
    return rest
