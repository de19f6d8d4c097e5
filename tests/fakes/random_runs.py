"""Random runs whose true figures are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import scipy
from numpy.random import Generator

from caliper.core.report import Figure, Kind
from caliper.core.tally import Sums, Tally

PAIRS = 500
PICTURES = 80


def recall(sums: Mapping[str, Sums]) -> float | None:
    one = sums["all"]
    questions, right = one.get("n", 0), one.get("cor", 0)
    return float(100 * right / questions) if questions else None


def f1(sums: Mapping[str, Sums]) -> float | None:
    one = sums["all"]
    questions, hit, right = one.get("n", 0), one.get("hit", 0), one.get("cor", 0)
    return float(200 * right / (questions + hit)) if questions else None


RECALL = Figure(("recall",), ("all",), recall, Kind.PROPORTION, shares=("cor", "n"))
F1 = Figure(("f1",), ("all",), f1)


def side_by_side(
    draw: Generator, shifts: Sequence[float], reach: float = 0.0, most: int = 6
) -> list[Tally]:
    """Runs over the same pictures with one to `most` questions each. Some pictures are harder for
    all runs; each run is right more often by its shift. `reach` is the largest shift: the ease of a
    picture is between 0 and 1 - reach, on average the middle.
    """
    sizes = draw.integers(1, most, size=PICTURES, endpoint=True)
    ease = draw.beta(2.0, 2.0, size=PICTURES) * (1 - reach)
    tallies = []
    for shift in shifts:
        right = draw.binomial(sizes, ease + shift)
        hit = right + draw.binomial(sizes - right, 0.5)
        tally = Tally()
        for place, (n, cor, mentioned) in enumerate(
            zip(sizes.tolist(), right.tolist(), hit.tolist(), strict=True)
        ):
            tally.add("all", f"picture-{place}", n=n, cor=cor, hit=mentioned)
        tallies.append(tally)
    return tallies


def coins(draw: Generator, media: int, shares: Sequence[float]) -> list[Tally]:
    """Runs over the same pictures with one question each, of which a share is right."""
    tallies = []
    for share in shares:
        tally = Tally()
        for place, right in enumerate((draw.random(media) < share).tolist()):
            tally.add("all", f"picture-{place}", n=1, cor=int(right), hit=1)
        tallies.append(tally)
    return tallies


def pair(draw: Generator, gain: float = 0.0, most: int = 6) -> tuple[Tally, Tally]:
    """Two runs; on average, the second is right on `gain` more of all questions, as a share."""
    shifts = (max(0.0, -gain), max(0.0, gain))
    first, second = side_by_side(draw, shifts, abs(gain), most)
    return first, second


def within(count: int, share: float, total: int = PAIRS) -> bool:
    """Whether a count is within the central 99.9% interval of a binomial with this share."""
    low, high = scipy.stats.binom.interval(0.999, total, share)
    return bool(low <= count <= high)


def at_most(count: int, share: float, total: int = PAIRS) -> bool:
    """Whether a count is at most the 99.9% quantile of a binomial with this share."""
    return bool(count <= scipy.stats.binom.ppf(0.999, total, share))


def at_least(count: int, share: float, total: int = PAIRS) -> bool:
    """Whether a count is at least the 0.1% quantile of a binomial with this share."""
    return bool(count >= scipy.stats.binom.ppf(0.001, total, share))
