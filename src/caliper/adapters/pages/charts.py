"""Geometry of the bar charts: positions on a scale, in percent of the width."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from caliper.core.report import Estimate

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 4
# A scale that reaches this far is extended to 100.
_NEARLY_ALL = 40.0


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high` that includes zero; `ticks` are round numbers."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """The position of `value` in percent of the width, clamped to the ends."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 3)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar and its whisker in percent of the width; no whisker without an interval."""

    start: float
    width: float
    low: float | None
    high: float | None


def scale(estimates: Iterable[Estimate]) -> Scale | None:
    """The axis that fits all estimates, whiskers included; None without data."""
    reach = [
        number
        for estimate in estimates
        for number in (estimate.value, estimate.low, estimate.high)
        if number is not None
    ]
    if not reach:
        return None
    least, most = min(0.0, *reach), max(0.0, *reach)
    if least == 0.0 and _NEARLY_ALL <= most <= 100.0:
        most = 100.0
    step = _round_step((most - least) / _TICKS or 1.0)
    first, last = math.floor(least / step), max(math.ceil(most / step), 1)
    ticks = tuple(step * count for count in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is at least `least`."""
    power: float = 10.0 ** math.floor(math.log10(least))
    return next((step * power for step in _STEPS if step * power >= least), 10 * power)


def bar(estimate: Estimate, on: Scale) -> Bar | None:
    """The bar from zero to the value; None without data."""
    if estimate.value is None:
        return None
    zero, end = on.place(0.0), on.place(estimate.value)
    low, high = (
        None if number is None else on.place(number) for number in (estimate.low, estimate.high)
    )
    return Bar(min(zero, end), round(abs(end - zero), 3), low, high)
