"""Verdicts of two raters whose true kappa is known."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from caliper.analysis.agreement import RatingTable

LABELS = ("-1", "0", "1")
SHARES = np.array([0.1, 0.3, 0.6])
"""How often either rater gives each label."""
_LARGEST = 8


def two_raters(draw: Generator, questions: int, kappa: float, *, clustered: bool) -> RatingTable:
    """The second rater repeats the first one's label with probability `kappa`, otherwise picks a
    random one: so `kappa` is Cohen's kappa and Krippendorff's alpha.

    Clustered: a medium has one to eight questions, and both the agreement and the label frequencies
    vary between media.
    """
    places = np.arange(questions)
    agreeing = np.full(questions, kappa)
    shares = np.tile(SHARES, (questions, 1))
    if clustered:
        sizes = draw.integers(1, _LARGEST, size=questions, endpoint=True)
        places = np.repeat(np.arange(questions), sizes)[:questions]
        shares = draw.dirichlet(3 * SHARES, size=questions)[places]
        if 0 < kappa < 1:
            agreeing = draw.beta(3 * kappa, 3 * (1 - kappa), size=questions)[places]
    first = (draw.random((questions, 1)) > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    chance = draw.choice(len(LABELS), size=questions, p=SHARES)
    second = np.where(draw.random(questions) < agreeing, first, chance)
    return RatingTable(LABELS, np.stack((first, second), axis=1).astype(np.int16), places)


def accuracy_of(kappa: float) -> float:
    """The expected agreement of two such raters."""
    return float(kappa + (1 - kappa) * (SHARES**2).sum())
