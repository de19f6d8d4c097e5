"""Intervals of runs that are judged in part: for the figures of all their questions.

With n of N questions drawn without replacement, what is left to chance shrinks with the share
f = n / N: a standard error by sqrt(1 - f), and the bound that no exception among n gives by
f / -ln(1 - f), from (1 - f)^k, the chance to miss k exceptions among all. Source: Cochran, Sampling
Techniques (3rd edition, 1977), chapters 2.6 and 3.6. The noise of the judge is not in it beyond
what the drawn verdicts show, and media are still resampled as a whole, which is cautious where
questions are spread over them.
"""

from __future__ import annotations

from dataclasses import replace
from math import log1p, sqrt

from caliper.core.report import Estimate


def of_all(estimate: Estimate, share: float) -> Estimate:
    """The estimate with the interval of the figure over all questions, of which the share, above 0
    and below 1, was drawn.
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    # Wilson's may be the bound for a figure without exceptions; else it is hardly wider.
    factor = share / -log1p(-share) if estimate.method == "wilson" else sqrt(1 - share)
    value = estimate.value
    return replace(
        estimate,
        low=value - factor * (value - estimate.low),
        high=value + factor * (estimate.high - value),
    )
