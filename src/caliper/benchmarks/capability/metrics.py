"""The metrics of CAPability, in percent (paper 3.2, equations 1 to 4), that are more than a share.

Over the scored questions of a task: N = scored, hit = score not 0 (mentioned), correct = score 1.
A metric without data is None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from caliper.core.report import Figure
from caliper.core.tally import Sums


def share(part: str, whole: str, sums: Sums) -> float | None:
    """Return `part` as a percentage of `whole`; None if the whole is empty."""
    total = sums.get(whole, 0)
    return float(100 * sums.get(part, 0) / total) if total else None


def precision(sums: Sums) -> float | None:
    """Correct among mentioned: correct / hit (equation 1).

    0 if nothing was mentioned, None if nothing was scored.
    """
    if not sums.get("scored", 0):
        return None
    return share("correct", "hit", sums) or 0.0


def f1(precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean 2PR / (P + R): 0 if both are 0, None if either is None."""
    if precision is None or recall is None:
        return None
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def f1_score(sums: Sums) -> float | None:
    """F1 of precision and recall; 0 if nothing was mentioned."""
    return f1(precision(sums), share("correct", "scored", sums))


def labels_per_caption(sums: Sums) -> float | None:
    """Labels listed by the judge per caption that states any (ours)."""
    captions = sums.get("listed", 0)
    return float(Fraction(sums["labels"]) / captions) if captions else None


def f1_of_one(sums: Sums) -> float | None:
    """F1 if exactly the annotated label had to be stated (Fig. A3).

    None if verdicts do not record how many labels were listed.
    """
    if sums.get("listed", 0) != sums.get("hit", 0):
        return None
    return f1_score({**sums, "correct": sums.get("correct_one", 0)})


def mean(values: Iterable[float | None]) -> float | None:
    """Return the unweighted mean of the columns with data; None if there are none."""
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


class TaskMean:
    """The average row: the unweighted mean of columns with data (paper, Table 3).

    It keeps the last value of each column, since the jackknife changes the sums of few columns at a
    time.
    """

    def __init__(self, columns: Iterable[Figure]) -> None:
        """The mean of these figures."""
        self._columns = tuple(columns)
        self._latest: list[tuple[list[Sums | None], float | None] | None] = [None] * len(
            self._columns
        )

    def __call__(self, sums: Mapping[str, Sums]) -> float | None:
        """The mean over the columns, from the sums by cell."""
        return mean(self._value(place, sums) for place in range(len(self._columns)))

    def _value(self, place: int, sums: Mapping[str, Sums]) -> float | None:
        column, latest = self._columns[place], self._latest[place]
        own = [sums.get(cell) for cell in column.cells]
        if latest is None or latest[0] != own:
            self._latest[place] = latest = own, column.statistic(sums)
        return latest[1]
