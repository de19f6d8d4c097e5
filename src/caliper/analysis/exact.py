"""What can be said where no medium moves a difference otherwise than the others do.

All media may tell the same: both runs have every question alike, or one has everything right
and the other everything wrong. No estimate of a spread knows then how sure that is, so its
p-values and bounds come from counting.

**No difference.** If two checkpoints are alike, a medium may as well have had its two results the
other way round. The sign test counts for how many media that would lower the difference and for
how many it would raise it (Conover, Practical Nonparametric Statistics, 3rd edition, 1999,
section 3.4). With one question a medium it is McNemar's.

**A difference of so much.** With n independent observations, all of the size `value`, between
-`most` and `most`, the mean may be `limit` below it all the same: others that were not seen may
be at -`most`. At the greatest a share of (most + limit) / (most + value) is at `value` then, and
that share to the power of n is the p-value: for `value` = 0 or `most` it is the exact binomial's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from caliper.analysis.jackknife import Parts, contributions, less
from caliper.analysis.significance import LEVEL, mcnemar
from caliper.core.tally import Sums, add_up

Place = tuple[int, str]
"""A run, 0 or 1, and one of its cells."""
Cells = Mapping[Place, Mapping[str, Sums]]
_DECIMALS = 9
_ROUNDING = 1e-9


def sign_test(cells: Cells, difference: Callable[[Mapping[Place, Sums]], float | None]) -> float:
    """The two-sided p-value of no difference, by the media that speak for and against it.

    `difference` is that of the sums of both runs' cells; those of one medium are exchanged at a
    time. What leaves no difference to be seen tells nothing.
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
    """The sums of both runs with what one medium adds exchanged between them."""
    found = {**totals, **{place: less(totals[place], part) for place, part in parts}}
    for (run, cell), part in parts:
        other = (1 - run, cell)
        # Zeros are not among the parts, and formulas want every name.
        zeros = dict.fromkeys(totals[run, cell], 0)
        found[other] = add_up((found[other], zeros, dict(part)))
    return found


def alike_beyond(value: float, limit: float, most: float, observations: float) -> float:
    """The one-sided p-value of a mean of `limit` or less, where all observations are `value`."""
    if value <= limit:
        return 1.0
    share = max(0.0, (most + limit) / (most + value))
    return round(math.pow(share, observations), _DECIMALS)


def alike_width(observations: float) -> float:
    """How far the mean may be from 0, where all observations are: a share of the greatest value,
    all of it without an observation.
    """
    return 1 - math.pow(LEVEL / 2, 1 / observations) if observations else 1.0


def alike_bounds(value: float, most: float, observations: float) -> tuple[float, float]:
    """The interval at 95% of a mean, where all observations are `value`: what `alike_beyond`
    does not rule out in either direction.
    """
    share = 1 - alike_width(observations)
    return share * (most + value) - most, most - share * (most - value)
