"""Bounds of KT-bar, however it is counted."""

from __future__ import annotations


def kt_bar_bounds(accuracy: float, recall: float) -> tuple[float, float]:
    """The least and greatest KT-bar for a QA accuracy above 0 and a recall, in percent.

    The known share that is also stated is at most `recall` of all; the share that is stated wrongly
    or not at all is 100 - recall. So KT >= 1 - recall / accuracy, and KT <= (1 - recall) /
    accuracy.
    """
    least = 100 * (1 - recall / accuracy)
    greatest = 100 * (100 - recall) / accuracy
    return max(0.0, least), min(100.0, greatest)
