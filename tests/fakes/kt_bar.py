"""What KT-bar can be, whoever counts it."""

from __future__ import annotations


def kt_bar_bounds(accuracy: float, recall: float) -> tuple[float, float]:
    """The least and greatest KT-bar that a QA accuracy above 0 and a recall allow, in percent.

    What is known is told at most `recall` of all, and what is told wrongly or not at all
    is 100 - recall of all: KT >= 1 - recall / accuracy, KT <= (1 - recall) / accuracy.
    """
    least = 100 * (1 - recall / accuracy)
    greatest = 100 * (100 - recall) / accuracy
    return max(0.0, least), min(100.0, greatest)
