"""Small tallies, and figures over them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from caliper.core.report import Figure, Kind
from caliper.core.tally import Sums, Tally

Row = tuple[str, str, dict[str, Any]]
Cells = Mapping[str, Sums]


def share(name: str, cells: tuple[str, ...] = ("a",), **more: Any) -> Figure:
    def statistic(sums: Cells) -> float | None:
        whole = sum(sums[cell].get("n", 0) for cell in cells)
        part = sum(sums[cell].get(name, 0) for cell in cells)
        return float(100 * Fraction(part, whole)) if whole else None

    return Figure((name,), cells, statistic, **more)


def proportion(name: str, cells: tuple[str, ...] = ("a",)) -> Figure:
    return share(name, cells, kind=Kind.PROPORTION, shares=(name, "n"))


def f1_of(sums: Sums) -> float | None:
    hit, right, asked = (sums.get(name, 0) for name in ("hit", "cor", "n"))
    if not asked:
        return None
    if not right:
        return 0.0
    precision, recall = Fraction(right, hit), Fraction(right, asked)
    return float(200 * precision * recall / (precision + recall))


def mean_f1(sums: Cells) -> float | None:
    values = [f1_of(sums[cell]) for cell in sums]
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def tally_of(rows: Iterable[Row]) -> Tally:
    tally = Tally()
    for cell, cluster, amounts in rows:
        tally.add(cell, cluster, **amounts)
    return tally


def judged(cell: str, scores: Iterable[int]) -> list[Row]:
    return [
        (cell, f"{cell}/{number}", {"n": 1, "hit": int(score != 0), "cor": int(score == 1)})
        for number, score in enumerate(scores)
    ]
