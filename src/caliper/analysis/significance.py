"""Significance tests of differences, and the least detectable differences.

Every p-value is two-sided unless stated otherwise, and rounded to 9 decimals: its last bits are
not those of the distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from caliper.analysis.distributions import (
    coin_quantile,
    coin_tail,
    student_quantile,
    student_tail,
)

_DECIMALS = 9
_LEAST_DISCORDANT = 6
LEVEL = 0.05
"""Differences with a lower adjusted p-value are called clear."""
POWER = 0.8
"""The probability that a comparison finds a difference of the detectable size."""


def two_sided(value: float, error: float, degrees: int) -> float:
    """The p-value of no difference: Student's t on value / error, with `error` above 0."""
    return min(1.0, 2 * upper_tail(abs(value), error, degrees))


def upper_tail(value: float, error: float, degrees: int, skew: float = 0.0) -> float:
    """The one-sided p-value: the chance of `value` or more if there is no difference.

    `skew` is that of the observations (see `jackknife`). If a few are far below the others, a
    sample that misses them looks both good and certain: Student's t is corrected for this. It is
    not corrected in the other direction, where the skew of a few observations may be mere chance.
    Source: Hall, On the removal of skewness by transformation (Journal of the Royal Statistical
    Society B 54, 1992), with gamma / sqrt(n) = 6 `skew`.
    """
    t = value / error
    corrected = t + 2 * skew * t**2 + 4 / 3 * skew**2 * t**3 + skew
    return round(student_tail(degrees, min(t, corrected)), _DECIMALS)


def mcnemar(lost: int, won: int) -> float:
    """The exact p-value for questions that only one run has right.

    `lost` are right only in the first run, `won` only in the second; questions that both or
    neither have right carry no information. Source: McNemar, Psychometrika 12 (1947), with the
    binomial distribution in place of its approximation.
    """
    if lost + won == 0:
        return 1.0
    return round(min(1.0, 2 * coin_tail(min(lost, won), lost + won)), _DECIMALS)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """The adjusted p-values of one family, in the same order; None stays None.

    Source: Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal
    of Statistics 6, 1979). Makes no assumption about the correlation of the tests.
    """
    ordered = sorted((p, place) for place, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    least = 0.0
    for rank, (p, place) in enumerate(ordered):
        least = max(least, min(1.0, p * (len(ordered) - rank)))
        adjusted[place] = round(least, _DECIMALS)
    return adjusted


def bonferroni(p: float | None, tests: int) -> float | None:
    """The p-value of one of `tests` tests, adjusted for all of them; None stays None."""
    return None if p is None else round(min(1.0, p * tests), _DECIMALS)


def detectable_difference(error: float, degrees: int) -> float:
    """The minimum detectable difference at this standard error: the least true difference found
    at LEVEL, two-sided, with probability POWER. That is (t(0.975) + t(0.8)) * error.

    Source: Bloom, Minimum detectable effects (Evaluation Review 19, 1995).
    """
    quantiles = (student_quantile(degrees, share) for share in (1 - LEVEL / 2, POWER))
    return round(sum(quantiles), _DECIMALS) * error


def detectable_mcnemar(discordant: int) -> float:
    """The least true difference, in questions, that `mcnemar` finds at LEVEL with probability
    POWER, if `discordant` questions are right in only one run.

    Of d such questions, the test needs c on one side; their number is about normal around
    (d + difference) / 2 with variance d / 4. Fewer than six can never be clear, so d is at least
    six.
    """
    count = max(discordant, _LEAST_DISCORDANT)
    needed = count - coin_quantile(LEVEL / 2, count)
    # Continuity correction: half a question less than `needed`.
    return round(2 * needed - 1 - count + NormalDist().inv_cdf(POWER) * math.sqrt(count), _DECIMALS)
