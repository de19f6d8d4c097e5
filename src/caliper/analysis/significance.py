"""Whether a difference is more than chance, and how small a one would have been seen.

Every p-value is two-sided unless it says otherwise and rounded to 9 decimals, for the last
bits of scipy's functions are not promised between its releases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_DECIMALS = 9
_LEAST_DISCORDANT = 6
LEVEL = 0.05
"""Differences whose adjusted p-value is lower are called clear."""
POWER = 0.8
"""The share of differences of the detectable size that a comparison finds."""


def two_sided(value: float, error: float, degrees: int) -> float:
    """The p-value of no difference: Student's t on value / error, with `error` above 0."""
    return min(1.0, 2 * beyond(abs(value), error, degrees))


def beyond(value: float, error: float, degrees: int, skew: float = 0.0) -> float:
    """The one-sided p-value: how often chance alone would give `value` or more.

    `skew` is that of the observations (see `jackknife`). Where a few reach far below the others,
    a sample that has missed them looks good and sure at once: Student's t is corrected for it.
    The other way round nothing is corrected, for the skew of a few observations is chance itself.
    Source: Hall, On the removal of skewness by transformation (Journal of the Royal Statistical
    Society B 54, 1992), with gamma / sqrt(n) = 6 `skew`.
    """
    from scipy.special import stdtr  # noqa: PLC0415 - as long to import as a short command takes

    t = value / error
    corrected = t + 2 * skew * t**2 + 4 / 3 * skew**2 * t**3 + skew
    return round(float(stdtr(degrees, -min(t, corrected))), _DECIMALS)


def mcnemar(lost: int, won: int) -> float:
    """The exact p-value for questions that one run alone has right.

    `lost` only the first has right, `won` only the second; what both or none have tells
    nothing. Source: McNemar, Psychometrika 12 (1947), with the binomial distribution in place
    of its approximation.
    """
    if lost + won == 0:
        return 1.0
    from scipy.special import bdtr  # noqa: PLC0415 - see above

    return round(min(1.0, 2 * float(bdtr(min(lost, won), lost + won, 0.5))), _DECIMALS)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """The p-values of one family adjusted, in their order; None stays None.

    Source: Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal
    of Statistics 6, 1979): no assumption about how the tests hang together.
    """
    known = sorted((p, place) for place, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    least = 0.0
    for rank, (p, place) in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - rank)))
        adjusted[place] = round(least, _DECIMALS)
    return adjusted


def bonferroni(p: float | None, tests: int) -> float | None:
    """The p-value of one of `tests` tests, adjusted for all of them; None stays None."""
    return None if p is None else round(min(1.0, p * tests), _DECIMALS)


def detectable(error: float, degrees: int) -> float:
    """The least true difference that a comparison with this standard error finds at LEVEL,
    two-sided, with probability POWER: (t(.975) + t(.8)) * error.

    Source: Bloom, Minimum detectable effects (Evaluation Review 19, 1995).
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - see above

    quantiles = (float(stdtrit(degrees, share)) for share in (1 - LEVEL / 2, POWER))
    return round(sum(quantiles), _DECIMALS) * error


def detectable_by_mcnemar(discordant: int) -> float:
    """The least true difference, in questions, that `mcnemar` finds at LEVEL with probability
    POWER, where `discordant` questions are right in one run alone.

    Of d such questions the test needs c on one side; their number is about normal around
    (d + difference) / 2 with the variance d / 4. Fewer than six can never be clear, so six are
    taken where there are fewer.
    """
    from scipy.special import bdtrik, ndtri  # noqa: PLC0415 - see above

    told = max(discordant, _LEAST_DISCORDANT)
    needed = told - math.floor(float(bdtrik(LEVEL / 2, told, 0.5)))
    # Half a question less is as good as `needed` on a scale without steps.
    return round(2 * needed - 1 - told + float(ndtri(POWER)) * math.sqrt(told), _DECIMALS)
