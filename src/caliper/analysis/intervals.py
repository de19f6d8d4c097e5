"""Figures computed from a tally, with 95% intervals where they exist.

The choice of the interval (architecture, "Metrics"):

    COUNT, PLAIN                                none
    PROPORTION, one question per cluster        Wilson's score interval
    PROPORTION, clusters with more questions    Wilson's, from the linearised error
    RATIO                                       Wilson's, from the delete-one-cluster jackknife

Wilson's interval from an error uses the number of observations that gives a share this error
(`effective_interval`). It is about the value ± Student's t times the error, except near a bound,
where those intervals miss the true value up to three times as often as they should. A RATIO is
treated as a share of the way between its bounds; without finite bounds its interval is Student's.

A cluster is a media file: verdicts about one picture are not independent. Only clusters show how
much a figure would vary with other pictures, so a single cluster of several questions, or a figure
without data, has no interval.

**No false certainty.** If no cluster differs from the others (all correct, none hit), the robust
estimates have zero width, which says nothing about unseen pictures. Then the interval is Wilson's,
with every cluster that contributes to the denominator as one observation (see `observations`): a
figure that averages values between its bounds varies at most as much as one that takes only the
bounds. A RATIO gets it if its value is one of its finite bounds; with zero width and a value
between them it gets no interval. If some parts of a mean are at a bound, the width of their joint
interval is added in squares to the jackknife's on that side: ours, after Zou and Donner,
Construction of confidence limits about effect measures (Statistics in Medicine 27, 2008).

Sums are exact and floats are added by `math.fsum`, so the result does not depend on the order in
which a tally was filled.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from caliper.analysis.jackknife import NORMAL, JackknifeEstimate, jackknife, student
from caliper.analysis.observations import (
    ConstantPart,
    count_contributors,
    max_shift,
    observations,
    weighted_parts,
)
from caliper.core.report import Estimate, Figure, Kind, Path
from caliper.core.tally import Amount, Sums, Tally, add_up, distinct

Clusters = Mapping[str, Mapping[str, Sums]]
_Parts = Counter[tuple[Amount, Amount]]
# Numbers with a relative difference below this differ by rounding only.
_ROUNDING = 1e-9


def estimate_all(figures: Iterable[Figure], tally: Tally) -> dict[Path, Estimate]:
    """Every figure's estimate by its path, in the order of the figures."""
    return {figure.path: estimate(figure, tally) for figure in figures}


def estimate(figure: Figure, tally: Tally) -> Estimate:
    """The value of a figure and its interval, in the figure's own unit.

    `low <= value <= high`, and both are within `figure.bounds`. Without an interval they are None
    and `method` is empty. A COUNT's value is an int. Raises ValueError for a PROPORTION that does
    not name its shares.
    """
    if figure.kind is Kind.COUNT:
        count = figure.statistic({cell: tally.total(cell) for cell in figure.cells})
        return Estimate(None if count is None else round(count))
    if figure.kind is Kind.PLAIN:
        return Estimate(figure.statistic({cell: tally.total(cell) for cell in figure.cells}))
    clusters = {cell: tally.clusters(cell) for cell in figure.cells}
    if figure.kind is Kind.PROPORTION:
        return _proportion(figure, clusters)
    return _ratio(figure, clusters)


def wilson(share: float, observations: float) -> tuple[float, float]:
    """Wilson's score interval at 95% for a share between 0 and 1 of `observations` > 0.

    Source: Wilson, Probable inference, the law of succession, and statistical inference
    (Journal of the American Statistical Association 22, 1927).
    """
    square = NORMAL * NORMAL / observations
    centre = (share + square / 2) / (1 + square)
    spread = share * (1 - share) / observations + square / (4 * observations)
    margin = NORMAL / (1 + square) * math.sqrt(spread)
    return max(0.0, centre - margin), min(1.0, centre + margin)


def _proportion(figure: Figure, cells: Clusters) -> Estimate:
    value = figure.statistic(_totals(cells))
    parts = _shares(figure, cells)
    if value is None or not parts:
        return Estimate(value)
    share = Fraction(_sum(parts, lambda some, _: some)) / _sum(parts, lambda _, one: one)
    simple = all(one == 1 and some in (0, 1) for some, one in parts)
    if not simple and parts.total() == 1:
        return Estimate(value)
    error = 0.0 if simple else _robust_error(parts, share)
    if error:
        interval, method = effective_interval(float(share), error, parts.total()), "cluster"
    else:
        interval, method = wilson(float(share), parts.total()), "wilson"
    low, high = interval
    return _estimate(figure, value, (low * figure.scale, high * figure.scale), method)


def effective_interval(share: float, error: float, clusters: int) -> tuple[float, float]:
    """Wilson's interval for a share with a cluster-robust standard error: with the effective sample
    size of that error, reduced by Student's quantile for this many clusters.

    For a share near the middle it is about share ± t(0.975, clusters - 1) * error; near 0 or 1 it
    claims no more certainty than the data support. Source: Korn and Graubard, Confidence intervals
    for proportions with small expected number of positive counts (Survey Methodology 24, 1998).
    """
    degrees = (NORMAL / student(clusters - 1)) ** 2
    return wilson(share, share * (1 - share) / error**2 * degrees)


def _robust_error(parts: _Parts, share: Fraction) -> float:
    """The cluster-robust standard error of `share`, 0 if all clusters have the same share.

    With G clusters of a_c out of b_c, p = sum a / sum b, the variance is
    G / (G - 1) * sum((a_c - p b_c)^2) / (sum b)^2. Source: Cochran, Sampling Techniques (3rd
    edition, 1977), chapter 9A (clusters of unequal size, ratio to size).
    """
    groups = parts.total()
    squares = _sum(parts, lambda some, one: (some - share * one) ** 2)
    whole = _sum(parts, lambda _, one: one)
    variance = squares * Fraction(groups, groups - 1) / whole**2
    return math.sqrt(variance)


def _sum(parts: _Parts, term: Callable[[Amount, Amount], Amount]) -> Amount:
    """The exact sum of a term over clusters; equal clusters are computed once."""
    return sum(times * term(some, one) for (some, one), times in parts.items())


def _shares(figure: Figure, cells: Clusters) -> _Parts:
    """The (part, whole) pairs of clusters, added up over all cells, and how many clusters have
    each. Clusters without a whole are left out.
    """
    if figure.shares is None:
        raise ValueError(f"the proportion {'.'.join(figure.path)} does not name its shares")
    part, whole = figure.shares
    filled = [clusters for clusters in cells.values() if clusters]
    if len(filled) == 1:
        parts: _Parts = Counter()
        for sums, times in distinct(filled[0].values()):
            if sums.get(whole):
                parts[sums.get(part, 0), sums[whole]] += times
        return parts
    by_cluster: dict[str, tuple[Amount, Amount]] = {}
    interned: dict[tuple[Amount, Amount], tuple[Amount, Amount]] = {}
    for clusters in filled:
        for cluster, sums in clusters.items():
            some, one = by_cluster.get(cluster, (0, 0))
            shares = some + sums.get(part, 0), one + sums.get(whole, 0)
            by_cluster[cluster] = interned.setdefault(shares, shares)
    return Counter(shares for shares in by_cluster.values() if shares[1])


def _totals(cells: Clusters) -> dict[str, Sums]:
    return {cell: add_up(clusters.values()) for cell, clusters in cells.items()}


def _ratio(figure: Figure, cells: Clusters) -> Estimate:
    result = jackknife(cells, figure.statistic)
    if result is None:
        return Estimate(None)
    if result.error is None:
        return Estimate(result.value)
    if is_constant(result):
        count = observations(cells.values(), figure.divisor)
        interval_at_bound = bound_interval(result.value, figure.bounds, count)
        if interval_at_bound is None:
            return Estimate(result.value)
        return _estimate(figure, result.value, interval_at_bound, "wilson")
    clusters = count_contributors(cells.values(), figure.divisor)
    if clusters < 2:
        return Estimate(result.value)
    low, high = _between(result.value, result.error, clusters, figure.bounds)
    down, up = _left_open(figure, cells)
    if down:
        low = result.value - math.hypot(result.value - low, down)
    if up:
        high = result.value + math.hypot(high - result.value, up)
    return _estimate(figure, result.value, (low, high), "jackknife")


def _left_open(figure: Figure, cells: Clusters) -> tuple[float, float]:
    """How far parts at a bound may really be from it, downwards and upwards: no cluster moves them,
    so the jackknife of the whole misses this.
    """
    if not figure.weights:
        return 0.0, 0.0
    sums = _totals(cells)
    least: list[ConstantPart] = []
    greatest: list[ConstantPart] = []
    for part, weight in weighted_parts(figure, sums):
        value = part.statistic({cell: sums[cell] for cell in part.cells}) or 0.0
        bound = bound_of(value, part.bounds)
        if bound is not None:
            width = weight * (part.bounds[1] - part.bounds[0])
            count = observations([cells[cell] for cell in part.cells], part.divisor)
            (greatest if bound else least).append(ConstantPart(width, count))
    return max_shift(greatest, wilson_width), max_shift(least, wilson_width)


def _between(
    value: float, error: float, clusters: int, bounds: tuple[float, float]
) -> tuple[float, float]:
    """The interval of a value between its bounds, treated as a share of the way. Student's if the
    bounds are infinite or the value is at one.
    """
    low, high = bounds
    width = high - low
    share = (value - low) / width if math.isfinite(width) else 0.0
    if not 0 < share < 1:
        margin = student(clusters - 1) * error
        return value - margin, value + margin
    least, most = effective_interval(share, error / width, clusters)
    return low + least * width, low + most * width


def is_constant(result: JackknifeEstimate) -> bool:
    """Whether leaving out any cluster changes the figure by no more than rounding."""
    return (result.error or 0.0) <= _ROUNDING * max(1.0, abs(result.value))


def bound_of(value: float, bounds: tuple[float, float]) -> int | None:
    """0 for a value at its lower bound, 1 at its upper one, None for any other."""
    low, high = bounds
    width = high - low
    if not math.isfinite(width):
        return None
    share = (value - low) / width
    return None if min(abs(share), abs(1 - share)) > _ROUNDING else round(share)


def bound_interval(
    value: float, bounds: tuple[float, float], count: float
) -> tuple[float, float] | None:
    """Wilson's interval for a value at one of its bounds, from `count` observations; None for any
    other value.
    """
    bound = bound_of(value, bounds)
    if bound is None:
        return None
    low, high = bounds
    width = high - low
    # Without observations, every value is possible.
    least, most = wilson(float(bound), count) if count else (0.0, 1.0)
    return low + least * width, low + most * width


def wilson_width(observations: float) -> float:
    """The width of Wilson's interval for a share of 0 or 1."""
    return wilson(0.0, observations)[1]


def _estimate(figure: Figure, value: float, interval: tuple[float, float], method: str) -> Estimate:
    low, high = clip(value, interval, figure.bounds)
    return Estimate(value, low, high, method)


def clip(
    value: float, interval: tuple[float, float], bounds: tuple[float, float]
) -> tuple[float, float]:
    """The interval clipped to the bounds, and widened to contain `value` despite rounding."""
    return min(value, max(interval[0], bounds[0])), max(value, min(interval[1], bounds[1]))
