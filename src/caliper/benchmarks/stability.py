"""How far repeats of the judging lie apart: the range of CAPability (paper 4.3), and the standard
deviation of CaptionQA (paper 3.5) and CompreCap (paper 4.1). Exact, whatever the order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

Values = Iterable[float | Fraction | None]
"""One figure of each repeat; None where a repeat has no data, which does not count."""
Combine = Callable[[Values], float | None]


def spread(values: Values) -> float | None:
    """The greatest less the least, None for fewer than two."""
    fractions = _fractions(values)
    return float(max(fractions) - min(fractions)) if len(fractions) > 1 else None


def deviation(values: Values) -> float | None:
    """The standard deviation of a sample (n - 1), None for fewer than two."""
    fractions = _fractions(values)
    if len(fractions) < 2:
        return None
    mean = sum(fractions, Fraction(0)) / len(fractions)
    square = sum(((value - mean) ** 2 for value in fractions), Fraction(0)) / (len(fractions) - 1)
    return math.sqrt(square)


SPREADS = (("range", spread), ("std", deviation))
"""Both by the names that figures go by."""


def _fractions(values: Values) -> list[Fraction]:
    return [Fraction(value) for value in values if value is not None]
