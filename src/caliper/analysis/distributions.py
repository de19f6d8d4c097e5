"""Student's distribution and the binomial one of a fair coin, without scipy: a report needs no more
of it. Errors are below 1e-10, and every use is rounded to 9 decimals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist

_PRECISION = 1e-14
_TINY = 1e-300
_MOST_STEPS = 1000
_LARGE = 50.0


def student_tail(degrees: int, t: float) -> float:
    """The probability of `t` or more under Student's distribution."""
    if t < 0:
        return 1.0 - student_tail(degrees, -t)
    if math.isinf(t * t):
        return 0.0
    # Half the regularized incomplete beta function of x = degrees / (degrees + t^2).
    a, square = degrees / 2, t * t / degrees
    x = 1 / (1 + square)
    density = math.exp(_log_gamma_ratio(a) - a * math.log1p(square)) / math.sqrt(math.pi)
    scale = density * math.sqrt(square * x)
    if x < (a + 1) / (a + 2.5):
        return scale / (2 * a) * _beta_fraction(a, 0.5, x)
    return 0.5 - scale * _beta_fraction(0.5, a, square * x)


@lru_cache(4096)
def student_quantile(degrees: int, share: float) -> float:
    """The value that Student's distribution exceeds with probability 1 - `share`, below a half."""
    # Newton's steps from the normal quantile, which is below: the distribution is concave there.
    t = NormalDist().inv_cdf(share)
    constant = math.exp(_log_gamma_ratio(degrees / 2)) / math.sqrt(degrees * math.pi)
    for _ in range(_MOST_STEPS):
        excess = student_tail(degrees, t) - (1 - share)
        density = constant * math.exp(-(degrees + 1) / 2 * math.log1p(t * t / degrees))
        step = excess / density
        t += step
        if abs(step) <= 1e-11 * t:
            break
    return t


def coin_tail(most: int, tosses: int) -> float:
    """The probability of at most `most` heads in `tosses`, with `most` at most half of them."""
    return math.fsum(_coin_terms(most, tosses))


def _coin_terms(most: int, tosses: int) -> Iterator[float]:
    """The probabilities of `most` heads, of one less, and so on while they count."""
    largest = term = math.comb(tosses, most) / 2**tosses
    for heads in range(most, -1, -1):
        if term <= largest * _PRECISION:
            return
        yield term
        term *= heads / (tosses - heads + 1)


def coin_quantile(share: float, tosses: int) -> int:
    """The most heads whose `coin_tail` is at most `share`, below a half; -1 if there are none."""
    heads = int(tosses / 2 + NormalDist().inv_cdf(share) * math.sqrt(tosses) / 2)
    heads = max(0, heads)
    while coin_tail(heads + 1, tosses) <= share:
        heads += 1
    while heads >= 0 and coin_tail(heads, tosses) > share:
        heads -= 1
    return heads


def _log_gamma_ratio(a: float) -> float:
    """The logarithm of gamma(a + 1/2) / gamma(a).

    Of large `a`, the difference of two logarithms would lose the digits that count. Source: the
    asymptotic series of Tricomi and Erdelyi (Pacific Journal of Mathematics 1, 1951).
    """
    if a < _LARGE:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    inverse = 1 / a
    series = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336)
    corrections = (term * inverse ** (2 * place + 1) for place, term in enumerate(series))
    return 0.5 * math.log(a) + sum(corrections)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method.

    Source: Press, Teukolsky, Vetterling and Flannery, Numerical Recipes (3rd edition, 2007), 6.4.
    """
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) <= _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
