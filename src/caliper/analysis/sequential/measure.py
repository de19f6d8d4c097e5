"""Figures as functions of two means over questions, and the influence of one question on them.

A score becomes a pair (c, h). For precision and F1, c says that the element is stated correctly and
h that it is mentioned: scores are 1, 0 (not mentioned) and -1, as in CAPability. With the
means C and H of a stratum:

    mean       C, c the score itself        influence  c
    recall     C                            influence  c
    precision  C / H                        influence  (c - P h) / H
    f1         2 C / (1 + H)                influence  (2 c - F (h + 1)) / (1 + H)

An influence says how far one question moves the figure of its stratum, times their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


class Measure(StrEnum):
    """How a figure is computed from scores, in the unit of scores: 0.01 is one point."""

    MEAN = "mean"
    RECALL = "recall"
    PRECISION = "precision"
    F1 = "f1"

    @property
    def is_of_mentions(self) -> bool:
        """Whether scores say what is mentioned: 1, 0 and -1."""
        return self is not Measure.MEAN

    def pairs(self, scores: Iterable[float]) -> Array:
        """The pairs (c, h) of scores, shape (n, 2)."""
        score = np.fromiter(scores, dtype=np.float64)
        correct = score if self is Measure.MEAN else score == 1
        return np.column_stack((correct, score != 0)).astype(np.float64)

    def at(self, correct: Array, hit: Array) -> tuple[Array, Array, Array]:
        """The figure at the means C and H, and the factors of c and h in an influence.

        All have the shape of `correct`. Precision is 0 and moved by nothing where H is 0.
        """
        if self is Measure.PRECISION:
            some = hit > 0
            on_correct = np.where(some, 1 / np.where(some, hit, 1), 0)
            figure = correct * on_correct
            return figure, on_correct, -figure * on_correct
        if self is Measure.F1:
            figure = 2 * correct / (1 + hit)
            return figure, 2 / (1 + hit), -figure / (1 + hit)
        return correct, np.ones_like(correct), np.zeros_like(correct)
