"""Selects the frames of a clip to show: arithmetic of indices over presentation times.

Frames are numbered from 0 in presentation order. Frame i is on display from s_i, where s_0 = 0,
until the next frame's start, the last one until the clip's length L. With N `frames` and F `fps`
the clip is sampled, in seconds, at

    without fps:  T_k = (2k + 1) L / 2N    k = 0 ... N - 1              the middle of N equal parts
    with fps:     T_k = (2k + 1) / 2F      k = 0 ... ceil(LF - 1/2) - 1   all that are below L

and the frames on display at these instants are shown: i_k is the largest i with s_i <= T_k. Each
frame is shown once, even if it is on display at several instants. If fps gives more than N
instants, or none, then N instants, or one, are taken as without fps. A clip with no more frames
than instants is shown whole. At a constant rate, with n frames, the first formula becomes
i_k = floor((2k + 1) n / 2N).

Everything is exact: integers and Fractions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median_low

from caliper.core.preparation import Preparation

_USUAL_RATE = Fraction(25)
"""Frames per second if neither time stamps nor container give the rate."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """When frames are on display, in units of `unit` seconds.

    `starts` rises from 0; the last frame stays until `length`.
    """

    starts: Sequence[int]
    length: int
    unit: Fraction

    @property
    def seconds(self) -> Fraction:
        """The clip's length L."""
        return self.length * self.unit


def frame_indices(timeline: Timeline, preparation: Preparation) -> tuple[int, ...]:
    """The indices of the frames to show, ascending; empty for a clip without frames."""
    count, numerator, denominator = _instants(timeline, preparation)
    if len(timeline.starts) <= count:
        return tuple(range(len(timeline.starts)))
    instants = ((2 * k + 1) * numerator // (2 * denominator) for k in range(count))
    on_display = (bisect_right(timeline.starts, instant) - 1 for instant in instants)
    return tuple(dict.fromkeys(on_display))


def _instants(timeline: Timeline, preparation: Preparation) -> tuple[int, int, int]:
    """The number of instants T_k, and p and q in T_k = (2k + 1) p / 2q units."""
    most = preparation.frames
    if preparation.fps is not None:
        p, q = (1 / (preparation.fps * timeline.unit)).as_integer_ratio()
        # ceil(a / b) is -(-a // b).
        count = -((p - 2 * timeline.length * q) // (2 * p))
        if 1 <= count <= most:
            return count, p, q
        most = most if count > most else 1
    return most, timeline.length, most


def timeline(
    stamps: Sequence[int | None], tick: Fraction, rate: Fraction | None = None, last: int = 0
) -> Timeline:
    """The timeline of frames with these time stamps, in presentation order.

    `stamps` count ticks of `tick` seconds; None for a frame without one. `rate` is the
    container's frames per second, `last` its duration of the last frame in ticks, 0 if unknown.

    Decoders return frames in presentation order, whatever their stamps, so stamps that do not
    rise (AVI writes those of B-frames in decoding order) are sorted. Frames without a stamp, and
    all but the first of those that share one, are spread evenly until the next stamp. The last
    frame stays for `last`, else for the median distance of frames. Stamps that equal a constant
    rate rounded to ticks are replaced by that rate, so that a clip gives the same frames in a
    container with milliseconds as in one with exact times.
    """
    starts, step = _repair(stamps, tick, rate)
    last = last if last > 0 else max(1, round(step))
    for constant in (rate, _fit_rate(starts, tick)):
        if constant and _is_constant(starts, last, 1 / (constant * tick)):
            return Timeline(range(len(starts)), len(starts), 1 / constant)
    return Timeline(starts, starts[-1] + last if starts else 0, tick)


def _repair(
    stamps: Sequence[int | None], tick: Fraction, rate: Fraction | None
) -> tuple[list[int], Fraction]:
    """Starts in ascending order from 0, and the usual distance of two frames in ticks."""
    times = iter(sorted(stamp for stamp in stamps if stamp is not None))
    anchors: list[tuple[int, int]] = []
    for place, stamp in enumerate(stamps):
        if stamp is None:
            continue
        time = next(times)
        if not anchors or time > anchors[-1][1]:
            anchors.append((place, time))
    step = _usual_step(anchors, tick, rate)
    if not anchors:
        anchors = [(0, 0)]
    first, start = anchors[0]
    starts = [start - round(step * (first - place)) for place in range(first)]
    for (place, time), (end, until) in pairwise(anchors):
        gap, frames = until - time, end - place
        starts += [time + gap * number // frames for number in range(frames)]
    place, time = anchors[-1]
    starts += [time + round(step * number) for number in range(len(stamps) - place)]
    origin = starts[0] if starts else 0
    return [time - origin for time in starts], step


def _usual_step(
    anchors: Sequence[tuple[int, int]], tick: Fraction, rate: Fraction | None
) -> Fraction:
    if len(anchors) > 1:
        return Fraction(
            median_low(
                (until - time) / (end - place) for (place, time), (end, until) in pairwise(anchors)
            )
        )
    return 1 / ((rate or _USUAL_RATE) * tick)


def _fit_rate(starts: Sequence[int], tick: Fraction) -> Fraction | None:
    """The constant rate between the first start and the last."""
    if len(starts) < 2 or starts[-1] <= 0:
        return None
    return Fraction(len(starts) - 1) / (starts[-1] * tick)


def _is_constant(starts: Sequence[int], last: int, step: Fraction) -> bool:
    """Whether frames `step` ticks apart would have these starts, up to rounding.

    Each of two stamps may be off by half a tick, and the fitted step by as much; stamps whose
    tick is long compared with a frame are not rounded.
    """
    tolerance = min(Fraction(3, 2), step / 4) * step.denominator
    distance, ticks = step.numerator, step.denominator
    if abs(last * ticks - distance) > tolerance:
        return False
    return all(
        abs(start * ticks - number * distance) <= tolerance for number, start in enumerate(starts)
    )
