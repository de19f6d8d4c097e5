"""How many observations a figure rests on: the clusters that contribute to its denominator.

A precision of 2 of 2 mentions rests on two media, however many were looked at. A cluster that
contributes nothing to the denominator says nothing about the figure, so it is counted neither
where an interval comes from counting nor in the degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from caliper.core.report import Figure
from caliper.core.tally import Sums

_Clusters = Mapping[str, Sums]


def observations(cells: Collection[_Clusters], divisor: Sequence[str]) -> float:
    """How many independent observations the plain mean of these cells has at least.

    Those of cell i are n_i, of the mean of k cells k^2 / sum(1 / n_i), and never more than there
    are over all cells. Of a denominator that adds up several sums a cluster is an observation by
    the share of them that it contributes to: F1 is 2 correct / (hit + scored), where a medium that
    is not mentioned weighs half of one that is. Without a divisor every cluster is one.
    """
    counts = [count for one in cells if (count := sum(_weights([one], divisor)))]
    if not counts:
        return 0.0
    mean = len(counts) ** 2 / math.fsum(1 / count for count in counts)
    return min(mean, sum(_weights([*cells], divisor)))


def contributing(cells: Collection[_Clusters], divisor: Sequence[str]) -> int:
    """How many clusters contribute to the denominator in any of these cells."""
    return sum(1 for _ in _weights([*cells], divisor))


def contributors(cells: Collection[_Clusters], divisor: Sequence[str]) -> set[str]:
    """The names of those clusters."""
    return {name for clusters in cells for name, sums in clusters.items() if _weight(sums, divisor)}


def taking_part(figure: Figure, sums: Mapping[str, Sums]) -> Iterator[tuple[Figure, float]]:
    """The parts of a figure that have data in these sums of its cells, and how much of the figure
    one unit of each is: parts without data leave their weight to the others.
    """
    known = [
        (part, weight)
        for part, weight in zip(figure.parts, figure.weights, strict=True)
        if value_of(part, sums) is not None
    ]
    left = math.fsum(figure.weights) / (math.fsum(weight for _, weight in known) or 1.0)
    yield from ((part, weight * left) for part, weight in known)


class ConstantPart(NamedTuple):
    """A part that no cluster moves: `width` is how far it could move the whole, by how many
    `observations` it is known.
    """

    width: float
    observations: float


def left_open(parts: Sequence[ConstantPart], share: Callable[[float], float]) -> float:
    """How far these parts together may move the whole: `share` says how much of the width so many
    observations leave open. Those of a weighted sum are W^2 / sum(w^2 / n).
    """
    seen = [part for part in parts if part.observations]
    unseen = [part.width for part in parts if not part.observations]
    whole = math.fsum(part.width for part in seen)
    if not whole:
        return math.hypot(*unseen)
    count = whole**2 / math.fsum(part.width**2 / part.observations for part in seen)
    return math.hypot(whole * share(count), *unseen)


def value_of(figure: Figure, sums: Mapping[str, Sums]) -> float | None:
    """The figure of sums that may lack some of its cells."""
    return figure.statistic({cell: sums[cell] for cell in figure.cells if cell in sums})


def _weights(cells: Sequence[_Clusters], divisor: Sequence[str]) -> Iterator[float]:
    """The weight of every cluster that has one, each in the first cell that counts it: a set of
    the names of a large run takes much room.
    """
    for place, clusters in enumerate(cells):
        for name, sums in clusters.items():
            weight = _weight(sums, divisor)
            if weight and not any(_weight(one.get(name), divisor) for one in cells[:place]):
                yield weight


def _weight(sums: Sums | None, divisor: Sequence[str]) -> float:
    if sums is None or not divisor:
        return float(sums is not None)
    return sum(bool(sums.get(name)) for name in divisor) / len(divisor)
