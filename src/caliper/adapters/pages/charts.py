"""Geometry of the charts: positions on a scale, in percent of the width or height."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from caliper.core.report import Estimate

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 4
# The room of a name, in percent of a scatter's width and height.
_CLOSE = (10.0, 3.0)
# A scale that reaches this far is extended to 100.
_NEARLY_ALL = 40.0
_FEWEST_SPOKES = 3


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`; `ticks` are round numbers."""

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
    """The axis that fits zero and all estimates, whiskers included; None without data."""
    reach = _reach(estimates)
    if not reach:
        return None
    least, most = min(0.0, *reach), max(0.0, *reach)
    if least == 0.0 and _NEARLY_ALL <= most <= 100.0:
        most = 100.0
    return _scale(least, most)


def _reach(estimates: Iterable[Estimate]) -> list[float]:
    return [
        number
        for estimate in estimates
        for number in (estimate.value, estimate.low, estimate.high)
        if number is not None
    ]


def _scale(least: float, most: float) -> Scale:
    step = _round_step((most - least) / _TICKS or 1.0)
    first = math.floor(least / step)
    last = max(math.ceil(most / step), first + 1)
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


@dataclass(frozen=True, slots=True)
class Dot:
    """A point in percent of the width and height, from the upper left corner, with the ends of its
    whiskers; None without an interval. `is_below` says where its name fits.
    """

    name: str
    x: float
    y: float
    is_below: bool
    across: tuple[float, float] | None
    along: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Scatter:
    """Two figures of several things against each other."""

    across: Scale
    along: Scale
    dots: tuple[Dot, ...]

    def height(self, value: float) -> float:
        """The position of a value from above."""
        return _from_above(self.along, value)


def scatter(points: Sequence[tuple[str, Estimate, Estimate]]) -> Scatter | None:
    """Name, horizontal and vertical figure of each thing; None if nothing has both."""
    complete = [
        (name, x, y) for name, x, y in points if x.value is not None and y.value is not None
    ]
    if not complete:
        return None
    ranges = (_reach(x for _, x, _ in complete), _reach(y for _, _, y in complete))
    across, along = (_scale(min(reach), max(reach)) for reach in ranges)
    dots: list[Dot] = []
    for name, x, y in complete:
        place = across.place(x.value or 0.0), _from_above(along, y.value or 0.0)
        # The name of a close neighbour stands above: write this one below.
        is_below = any(
            abs(place[0] - dot.x) < _CLOSE[0] and abs(place[1] - dot.y) < _CLOSE[1]
            for dot in dots
            if not dot.is_below
        )
        whiskers = _whisker(x, across.place), _whisker(y, partial(_from_above, along))
        dots.append(Dot(name, *place, is_below, *whiskers))
    return Scatter(across, along, tuple(dots))


def _from_above(on: Scale, value: float) -> float:
    return round(100 - on.place(value), 3)


def _whisker(estimate: Estimate, place: Callable[[float], float]) -> tuple[float, float] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return place(estimate.low), place(estimate.high)


@dataclass(frozen=True, slots=True)
class Spoke:
    """An axis of a radar and its end, with the centre at 0 and a radius of 100."""

    name: str
    x: float
    y: float

    def point(self, on: Scale, value: float) -> str:
        """The place of a value, as SVG has points."""
        share = on.place(value) / 100
        return f"{self.x * share:.2f},{self.y * share:.2f}"


@dataclass(frozen=True, slots=True)
class Radar:
    """Figures of several things along the same spokes: outlines by name, as SVG has them. `rings`
    are the ticks.
    """

    spokes: tuple[Spoke, ...]
    rings: tuple[tuple[float, str], ...]
    outlines: tuple[tuple[str, str], ...]


def radar(spokes: Sequence[str], things: Sequence[tuple[str, Sequence[Estimate]]]) -> Radar | None:
    """The figures of each thing along `spokes`; None with fewer than three, or without data."""
    axis = scale(Estimate(each.value) for _, figures in things for each in figures)
    if axis is None or len(spokes) < _FEWEST_SPOKES:
        return None
    turns = [2 * math.pi * place / len(spokes) for place in range(len(spokes))]
    ends = tuple(
        Spoke(name, round(100 * math.sin(turn), 3), round(-100 * math.cos(turn), 3))
        for name, turn in zip(spokes, turns, strict=True)
    )
    rings = tuple((tick, " ".join(end.point(axis, tick) for end in ends)) for tick in axis.ticks)
    return Radar(ends, rings, tuple((name, _outline(ends, of, axis)) for name, of in things))


def _outline(spokes: Sequence[Spoke], figures: Sequence[Estimate], axis: Scale) -> str:
    """The outline of a thing; it leaves out what has no data."""
    pairs = zip(spokes, figures, strict=True)
    return " ".join(end.point(axis, each.value) for end, each in pairs if each.value is not None)
