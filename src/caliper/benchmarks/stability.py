"""Spread over repeated judging: range and standard deviation.

CAPability uses the range (paper 4.3); CaptionQA (paper 3.5) and CompreCap (paper 4.1) use the
standard deviation. Results are exact and do not depend on the order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

Values = Iterable[float | Fraction | None]
"""One figure per repeat; None (ignored) for a repeat without data."""
Combine = Callable[[Values], float | None]


def spread(values: Values) -> float | None:
    """Return the maximum minus the minimum; None for fewer than two values."""
    fractions = _fractions(values)
    return float(max(fractions) - min(fractions)) if len(fractions) > 1 else None


def deviation(values: Values) -> float | None:
    """Return the sample standard deviation (n - 1); None for fewer than two values."""
    fractions = _fractions(values)
    if len(fractions) < 2:
        return None
    mean = sum(fractions, Fraction(0)) / len(fractions)
    square = sum(((value - mean) ** 2 for value in fractions), Fraction(0)) / (len(fractions) - 1)
    return math.sqrt(square)


SPREADS = (("range", spread), ("std", deviation))
"""Both statistics with their names in figures."""


def _fractions(values: Values) -> list[Fraction]:
    return [Fraction(value) for value in values if value is not None]
