"""How well a metric agrees with people, over models (CompreCap, Table 3).

Intervals are at 95%, on Fisher's scale (the inverse hyperbolic tangent), where a coefficient of
n models is about normal with a known spread:

    Pearson's r       1 / sqrt(n - 3)                     Fisher, Metron 1 (1921)
    Spearman's rho    sqrt((1 + rho^2 / 2) / (n - 3))     Bonett and Wright, Psychometrika 65 (2000)
    Kendall's tau     sqrt(.437 / (n - 4))                Fieller, Hartley and Pearson, Biometrika
                                                          44 (1957)

A bootstrap over models is no way out where they are few: of two or three that stand in one order
every draw does, and the interval has no width. **Few models.** Two always lie on one line: there
is no coefficient. Below five there is none that could be told from chance: of four models every
twelfth order is perfect, one way or the other; so there is no interval.

A perfect order is not certain either. The next best that n models can have is a step below, and
the interval is that of half a step below 1. A line through all models, which Fisher's scale does
not know, is taken for a perfect order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from caliper.analysis.agreement import Coefficient
from caliper.analysis.jackknife import NORMAL

LEAST, LEAST_BOUNDED = 3, 5
"""The least number of models for a coefficient, and for an interval."""
_FEW = f"fewer than {LEAST} models: two always lie on one line"
_ALIKE = "all models have the same value"
_UNBOUNDED = (
    f"no interval below {LEAST_BOUNDED} models with values of their own: "
    "of four every twelfth order is perfect by chance"
)
_DECIMALS = 6
_ROUNDING = 1e-9
_UNKNOWN = Coefficient(None)


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r, Kendall's tau (b, which allows for ties) and Spearman's rho, each -1 to 1."""

    pearson: float
    kendall: float
    spearman: float


@dataclass(frozen=True, slots=True)
class CorrelationEstimate:
    """The same over so many models with their intervals; None where nothing can be said, and
    `remark` says why.
    """

    models: int
    pearson: Coefficient = _UNKNOWN
    kendall: Coefficient = _UNKNOWN
    spearman: Coefficient = _UNKNOWN
    remark: str = ""


def correlation(metric: Sequence[float], human: Sequence[float]) -> Correlation:
    """The agreement of a metric with human scores, one value a model in both, in one order.

    Raises ValueError for fewer than two models, for lengths that differ, and where one of the
    two gives all models the same value, so that nothing can be said.
    """
    if len(metric) != len(human) or len(metric) < 2:
        raise ValueError(f"{len(metric)} values of the metric, {len(human)} human scores")
    if _told_apart(metric, human) < 2:
        raise ValueError(_ALIKE)
    from scipy import stats  # noqa: PLC0415 - as long to import as a short command takes

    return Correlation(
        float(stats.pearsonr(metric, human).statistic),
        float(stats.kendalltau(metric, human).statistic),
        float(stats.spearmanr(metric, human).statistic),
    )


def correlated(metric: Sequence[float], human: Sequence[float]) -> CorrelationEstimate:
    """`correlation` with intervals, as far as so many models tell anything.

    Raises ValueError for lengths that differ.
    """
    models = len(metric)
    if models == len(human) and models < LEAST:
        return CorrelationEstimate(models, remark=_FEW)
    if models == len(human) and _told_apart(metric, human) < 2:
        return CorrelationEstimate(models, remark=_ALIKE)
    found = correlation(metric, human)
    pearson, kendall, spearman = found.pearson, found.kendall, found.spearman
    if _told_apart(metric, human) < LEAST_BOUNDED:
        bare = [Coefficient(round(value, _DECIMALS)) for value in (pearson, kendall, spearman)]
        return CorrelationEstimate(models, bare[0], bare[1], bare[2], _UNBOUNDED)
    # One pair of neighbours that changes places, of n (n - 1) / 2 pairs.
    swapped, pairs = 12 / (models**3 - models), 4 / (models**2 - models)
    line = abs(pearson) > 1 - _ROUNDING
    return CorrelationEstimate(
        models,
        _bounded(pearson, 1 / math.sqrt(models - 3), swapped if line else 0.0),
        _bounded(kendall, math.sqrt(0.437 / (models - 4)), pairs),
        _bounded(spearman, math.sqrt((1 + spearman**2 / 2) / (models - 3)), swapped),
    )


def _told_apart(metric: Sequence[float], human: Sequence[float]) -> int:
    """How many different values the one of the two has that has fewer."""
    return min(len(set(metric)), len(set(human)))


def _bounded(value: float, spread: float, step: float) -> Coefficient:
    """`step` is how far the next best coefficient lies below a perfect one."""
    nearest = math.copysign(min(abs(value), 1 - step / 2), value)
    low, high = (math.tanh(math.atanh(nearest) + side * NORMAL * spread) for side in (-1, 1))
    bounds = (value, min(value, low), max(value, high))
    return Coefficient(*(round(number, _DECIMALS) for number in bounds))
