"""Exact p-values and bounds for a difference that all media move alike.

All media may agree: both runs answer every question alike, or one has everything right and the
other everything wrong. The estimated spread is then zero and says nothing about the uncertainty,
so p-values and bounds come from counting.

**No difference.** If two checkpoints are alike, the two results of a medium could as well be
swapped. The sign test counts the media for which a swap would lower the difference, and those for
which it would raise it (Conover, Practical Nonparametric Statistics, 3rd edition, 1999, section
3.4). With one question per medium it is McNemar's.

**A difference of a given size.** Let n independent observations all be `value`, with possible
values from -`maximum` to `maximum`. The true mean may still be as low as `limit`, if unseen
observations are at -`maximum`. Then at most a share of (most + limit) / (most + value) is at
`value`, and the p-value is that share to the power of n: for `value` = 0 or `maximum`, the exact
binomial one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from caliper.analysis.jackknife import Parts, contributions, subtract_part
from caliper.analysis.significance import LEVEL, mcnemar
from caliper.core.tally import Sums, add_up

Place = tuple[int, str]
"""A run, 0 or 1, and one of its cells."""
Cells = Mapping[Place, Mapping[str, Sums]]
_DECIMALS = 9
_ROUNDING = 1e-9


def sign_test(cells: Cells, difference: Callable[[Mapping[Place, Sums]], float | None]) -> float:
    """The two-sided p-value of no difference, from the media for and against it.

    `difference` takes the sums of both runs' cells. One medium at a time is exchanged between the
    runs; media that leave the difference unchanged or undefined are not counted.
    """
    totals: dict[Place, Sums] = {cell: add_up(media.values()) for cell, media in cells.items()}
    value = difference(totals)
    if value is None:
        raise ValueError("runs without data are not compared")
    raised = lowered = 0
    for parts, times in contributions(cells).items():
        exchanged = difference(_exchanged(totals, parts))
        if exchanged is None or abs(exchanged - value) <= _ROUNDING * max(1.0, abs(value)):
            continue
        raised += times * (exchanged < value)
        lowered += times * (exchanged > value)
    return mcnemar(lowered, raised)


def _exchanged(totals: Mapping[Place, Sums], parts: Parts[Place]) -> dict[Place, Sums]:
    """The sums of both runs with the contributions of one medium exchanged."""
    exchanged = {**totals, **{place: subtract_part(totals[place], part) for place, part in parts}}
    for (run, cell), part in parts:
        other = (1 - run, cell)
        # Parts omit zeros, but formulas need every name.
        zeros = dict.fromkeys(totals[run, cell], 0)
        exchanged[other] = add_up((exchanged[other], zeros, dict(part)))
    return exchanged


def constant_p(value: float, limit: float, maximum: float, observations: float) -> float:
    """The one-sided p-value of a mean of `limit` or less, if all observations are `value`."""
    if value <= limit:
        return 1.0
    share = max(0.0, (maximum + limit) / (maximum + value))
    return round(math.pow(share, observations), _DECIMALS)


def constant_width(observations: float) -> float:
    """How far from 0 the mean may be if all observations are 0, as a share of the greatest value:
    1 without observations.
    """
    return 1 - math.pow(LEVEL / 2, 1 / observations) if observations else 1.0


def constant_interval(value: float, maximum: float, observations: float) -> tuple[float, float]:
    """The 95% interval of a mean if all observations are `value`: the means that `constant_p`
    rules out in neither direction.
    """
    share = 1 - constant_width(observations)
    return share * (maximum + value) - maximum, maximum - share * (maximum - value)
