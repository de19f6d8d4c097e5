"""A bound for a difference that holds at every look, and what follows from it.

With V the variance of an estimated difference D and V0 a variance fixed beforehand, D errs by

    h = sqrt(V (1 + V / V0) ln((1 + V0 / V) / (2 alpha)^2))

or more to one given side, at any of all looks, with probability alpha at most. The bound is
asymptotic: it takes D for normal. Source: Robbins, Statistical methods related to the law of the
iterated logarithm (Annals of Mathematical Statistics 41, 1970), and for estimates that are normal
in large samples Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory
and asymptotic confidence sequences (Annals of Statistics 52, 2024).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from caliper.analysis.sequential.measure import Array
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import special
else:
    special = lazy_module("scipy.special")

SPREAD = 1.1
"""V0 in squared margins: the bound is tightest where the margin is about to be decided."""
_TINY = 1e-18
_MOST_TIMES = 100.0
_STEPS = 60


def half_width(variance: Array, spread: float, alpha: float) -> Array:
    """The h above, in the shape of `variance`; `spread` is V0."""
    v = np.maximum(variance, _TINY)
    return np.sqrt(
        v * (1 + v / spread) * np.maximum(np.log((1 + spread / v) / (2 * alpha) ** 2), 0)
    )


def p_value(distance: Array, variance: Array, spread: float) -> Array:
    """The least alpha at which the bound excludes what is `distance` below the estimate; 1 where
    that is not above 0. Valid at every look, so the least of all looks is as well.
    """
    v = np.maximum(variance, _TINY)
    exponent = -(distance**2) / (2 * v * (1 + v / spread))
    return np.where(distance > 0, np.minimum(1, np.sqrt(1 + spread / v) / 2 * np.exp(exponent)), 1)


def share_needed(
    distance: float, share: float, sampling: float, rest: float, target: tuple[float, float]
) -> float | None:
    """The share of the questions that would decide, if estimates stay as they are; above 1, it
    takes more questions than there are. None if it takes over a hundred times as many.

    `share` is drawn so far. V at the share f is `sampling` (1 / f - 1) + `rest`, divided by f
    beyond 1; `target` holds V0 and alpha.
    """
    spread, alpha = target

    def decides(f: float) -> bool:
        v = sampling * (1 / f - 1) + rest if f < 1 else rest / f
        return float(half_width(np.array(v), spread, alpha)) < abs(distance)

    low, high = share, _MOST_TIMES
    if not decides(high):
        return None
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def rare_losses_p(losses: int, drawn: int, whole: int, least: int) -> float:
    """The p-value of at least `least` losses among `whole` questions, if `drawn` of them, drawn
    without replacement, show `losses`: the hypergeometric distribution.
    """
    if least > whole:
        return 0.0
    if least <= losses:
        return 1.0

    def log_choose(n: Array, k: Array) -> Array:
        out: Array = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
        return out

    first = max(0, drawn - (whole - least))
    seen = np.arange(first, min(losses, drawn) + 1, dtype=np.float64)
    if not seen.size:
        return 0.0
    n, size, rest = (np.array(float(each)) for each in (drawn, whole, whole - least))
    terms = log_choose(size - rest, seen) + log_choose(rest, n - seen) - log_choose(size, n)
    return min(1.0, float(np.exp(special.logsumexp(terms))))
