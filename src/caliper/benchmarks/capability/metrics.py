"""The metrics of CAPability, in percent (paper 3.2, equations 1 to 4).

Over the scored questions of a task: N = scored, hit = score is not 0 (mentioned), correct
= score is 1. A metric without data is None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from caliper.core.tally import Sums


def share(part: str, whole: str, sums: Sums) -> float | None:
    """`part` in percent of `whole`; None when the whole is empty."""
    total = sums.get(whole, 0)
    return float(100 * sums.get(part, 0) / total) if total else None


def precision(sums: Sums) -> float | None:
    """Share of what is mentioned that is right: correct / hit (equation 1).

    0 when nothing was mentioned, None when nothing was scored.
    """
    if not sums.get("scored", 0):
        return None
    return share("correct", "hit", sums) or 0.0


def recall(sums: Sums) -> float | None:
    """Share of all that is told rightly: correct / N (equation 2).

    The poster and the README call it "Hit".
    """
    return share("correct", "scored", sums)


def hit_rate(sums: Sums) -> float | None:
    """Share of all that is mentioned: hit / N (equation 3)."""
    return share("hit", "scored", sums)


def f1(precision: float | None, recall: float | None) -> float | None:
    """The harmonic mean 2PR / (P + R), 0 when both are 0; None when either is."""
    if precision is None or recall is None:
        return None
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def f1_score(sums: Sums) -> float | None:
    """F1 of precision and recall, 0 when nothing was mentioned."""
    return f1(precision(sums), recall(sums))


def labels_per_caption(sums: Sums) -> float | None:
    """Labels that the judge listed per caption that states any (ours)."""
    listed = sums.get("listed", 0)
    return float(Fraction(sums["labels"]) / listed) if listed else None


def f1_of_one(sums: Sums) -> float | None:
    """F1 if exactly one label had to be stated, the annotated one (Fig. A3). None where verdicts
    do not say how many labels were listed.
    """
    if sums.get("listed", 0) != sums.get("hit", 0):
        return None
    return f1_score({**sums, "correct": sums.get("correct_one", 0)})


def qa_accuracy(sums: Sums) -> float | None:
    """Right answers / answers, for the questions from the media."""
    return share("correct", "scored", sums)


def kt_bar(sums: Sums) -> float | None:
    """Known but not told / known (equation 4): the question from the media was answered
    right, and the caption is wrong or silent. Only pairs of which both are scored count.
    """
    return share("untold", "known", sums)


def mean(values: Iterable[float | None]) -> float | None:
    """The plain mean of the columns that have data; None when none has."""
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None
