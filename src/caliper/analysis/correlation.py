"""Correlation of a metric with human scores, over models (CompreCap, Table 3).

Intervals are at 95%, on Fisher's scale (the inverse hyperbolic tangent), where a coefficient of
n models is about normal with a known standard error:

    Pearson's r       1 / sqrt(n - 3)                     Fisher, Metron 1 (1921)
    Spearman's rho    sqrt((1 + rho^2 / 2) / (n - 3))     Bonett and Wright, Psychometrika 65 (2000)
    Kendall's tau     sqrt(.437 / (n - 4))                Fieller, Hartley and Pearson, Biometrika
                                                          44 (1957)

A bootstrap over models does not help with few of them: if two or three are in one order, every
resample is too, and the interval has no width. **Few models.** Two always lie on one line: there
is no coefficient. Below five, nothing can be distinguished from chance: of four models, every
twelfth order is perfect, in one direction or the other. So there is no interval.

**Several captions of one image** depend on each other. Then the images are dealt into groups, each
group is left out in turn, and the error is that of the jackknife over groups, on Fisher's scale,
with Student's quantile: Kott, The delete-a-group jackknife (Journal of Official Statistics 17,
2001). Below `LEAST_IMAGES` images there is no interval.

Even a perfect order is uncertain. The next best coefficient of n models is one step below 1, so
the interval is that of half a step below 1. If all models lie on a line, where Fisher's scale is
infinite, Pearson's r is treated like a perfect order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caliper.analysis.agreement import Coefficient
from caliper.analysis.jackknife import NORMAL, student
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = lazy_module("scipy.stats")

LEAST, LEAST_BOUNDED = 3, 5
"""The least number of models for a coefficient, and for an interval."""
LEAST_IMAGES, GROUPS = 10, 20
"""The least number of images for an interval over captions, and the most groups of them."""
_FEW = f"fewer than {LEAST} {{}}: two always lie on one line"
_ALIKE = "all {} have the same value"
_UNBOUNDED = (
    f"no interval below {LEAST_BOUNDED} {{}} with values of their own: "
    "of four every twelfth order is perfect by chance"
)
_DEPENDENT = (
    f"no interval: several {{}} are of one image, and there are fewer than {LEAST_IMAGES} images"
)
_DECIMALS = 6
_ROUNDING = 1e-9
_UNKNOWN = Coefficient(None)


@dataclass(frozen=True, slots=True)
class CorrelationEstimate:
    """Pearson's r, Kendall's tau (b, which allows for ties) and Spearman's rho over `models`
    models, with intervals. Undefined ones are None; `remark` says why.

    `kendall_c` is Stuart's tau-c, for people's scores with few steps; it has no interval.
    """

    models: int
    pearson: Coefficient = _UNKNOWN
    kendall: Coefficient = _UNKNOWN
    spearman: Coefficient = _UNKNOWN
    remark: str = ""
    kendall_c: Coefficient = _UNKNOWN


def estimate_correlation(
    metric: Sequence[float],
    human: Sequence[float],
    *,
    noun: str = "models",
    images: Sequence[str] = (),
) -> CorrelationEstimate:
    """The correlation of a metric with human scores: one value per model, in the same order.

    There are intervals as far as the number of models allows. `noun` is what is scored, if not
    models; `images` are those that captions are of. Raises ValueError for different lengths.
    """
    models = len(metric)
    if models != len(human):
        raise ValueError(f"{models} values of the metric, {len(human)} human scores")
    if models < LEAST:
        return CorrelationEstimate(models, remark=_FEW.format(noun))
    if _distinct(metric, human) < 2:
        return CorrelationEstimate(models, remark=_ALIKE.format(noun))
    exact = _coefficients(metric, human)
    tau_c = _bare(float(stats.kendalltau(metric, human, variant="c").statistic))
    few = _distinct(metric, human) < LEAST_BOUNDED
    shared = len(set(images)) < len(images)
    if few or (shared and len(set(images)) < LEAST_IMAGES):
        remark = (_UNBOUNDED if few else _DEPENDENT).format(noun)
        bare = [_bare(value) for value in exact]
        return CorrelationEstimate(models, bare[0], bare[1], bare[2], remark, tau_c)
    if shared:
        bounded = _over_groups(metric, human, images, exact)
        return CorrelationEstimate(models, *bounded, kendall_c=tau_c)
    pearson, kendall, spearman = exact
    # The step when one pair of neighbours swaps, of n (n - 1) / 2 pairs.
    swapped, pairs = 12 / (models**3 - models), 4 / (models**2 - models)
    line = abs(pearson) > 1 - _ROUNDING
    return CorrelationEstimate(
        models,
        _with_interval(pearson, 1 / math.sqrt(models - 3), swapped if line else 0.0),
        _with_interval(kendall, math.sqrt(0.437 / (models - 4)), pairs),
        _with_interval(spearman, math.sqrt((1 + spearman**2 / 2) / (models - 3)), swapped),
        kendall_c=tau_c,
    )


def _coefficients(metric: Sequence[float], human: Sequence[float]) -> list[float]:
    """Pearson's r, Kendall's tau-b and Spearman's rho; NaN where they are undefined."""
    of = (stats.pearsonr, stats.kendalltau, stats.spearmanr)
    return [float(coefficient(metric, human).statistic) for coefficient in of]


def _over_groups(
    metric: Sequence[float], human: Sequence[float], images: Sequence[str], exact: Sequence[float]
) -> tuple[Coefficient, Coefficient, Coefficient]:
    """The coefficients with the intervals of the delete-a-group jackknife over images."""
    names = sorted(set(images))
    count = min(GROUPS, len(names))
    groups = {name: place % count for place, name in enumerate(names)}
    without = []
    for group in range(count):
        indices = [i for i, image in enumerate(images) if groups[image] != group]
        rest = [metric[i] for i in indices], [human[i] for i in indices]
        without.append(_coefficients(*rest) if _distinct(*rest) > 1 else [math.nan] * 3)
    margin = student(count - 1) / NORMAL

    def bounded(place: int) -> Coefficient:
        values = [row[place] for row in without]
        if not all(abs(value) < 1 - _ROUNDING for value in (*values, exact[place])):
            return _bare(exact[place])
        scaled = [math.atanh(value) for value in values]
        mean = math.fsum(scaled) / count
        squares = math.fsum((value - mean) ** 2 for value in scaled)
        error = math.sqrt(squares * (count - 1) / count)
        return _with_interval(exact[place], margin * error, 0.0)

    return bounded(0), bounded(1), bounded(2)


def _distinct(metric: Sequence[float], human: Sequence[float]) -> int:
    """The number of distinct values, of whichever sequence has fewer."""
    return min(len(set(metric)), len(set(human)))


def _bare(value: float) -> Coefficient:
    return Coefficient(round(value, _DECIMALS))


def _with_interval(value: float, spread: float, step: float) -> Coefficient:
    """A coefficient with its interval. `step`: from a perfect coefficient to the next best."""
    nearest = math.copysign(min(abs(value), 1 - step / 2), value)
    low, high = (math.tanh(math.atanh(nearest) + side * NORMAL * spread) for side in (-1, 1))
    bounds = (value, min(value, low), max(value, high))
    return Coefficient(*(round(number, _DECIMALS) for number in bounds))
