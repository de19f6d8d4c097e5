"""The number of observations behind a figure: clusters that contribute to its denominator.

A precision of 2 of 2 mentions is based on two media, however many were examined. A cluster that
contributes nothing to the denominator says nothing about the figure, so it counts neither for
exact intervals nor for the degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from caliper.core.report import Figure
from caliper.core.tally import Sums, distinct

_Clusters = Mapping[str, Sums]


def observations(cells: Collection[_Clusters], divisor: Sequence[str]) -> float:
    """The least number of independent observations behind the plain mean of these cells.

    With n_i observations in cell i, the mean of k cells has k^2 / sum(1 / n_i), but never more
    than all cells have together. If the denominator adds up several sums, a cluster counts by the
    share of them that it contributes to: in F1 = 2 correct / (hit + scored), a medium that is not
    mentioned weighs half of one that is. Without a divisor every cluster counts as one.
    """
    counts = [count for one in cells if (count := sum(_weights([one], divisor)))]
    if not counts:
        return 0.0
    mean = len(counts) ** 2 / math.fsum(1 / count for count in counts)
    return min(mean, sum(_weights([*cells], divisor)))


def count_contributors(cells: Collection[_Clusters], divisor: Sequence[str]) -> int:
    """The number of clusters that contribute to the denominator in any of these cells."""
    return sum(1 for _ in _weights([*cells], divisor))


def contributors(cells: Collection[_Clusters], divisor: Sequence[str]) -> set[str]:
    """The names of the clusters that contribute to the denominator in any of these cells."""
    found = set[str]()
    for clusters in cells:
        weights = _weights_by_id(clusters, divisor)
        found.update([name for name, sums in clusters.items() if weights[id(sums)]])
    return found


def weighted_parts(figure: Figure, sums: Mapping[str, Sums]) -> Iterator[tuple[Figure, float]]:
    """The parts of a figure that have data in these sums, with their weights in the figure. The
    weight of parts without data goes to the others.
    """
    with_data = [
        (part, weight)
        for part, weight in zip(figure.parts, figure.weights, strict=True)
        if value_of(part, sums) is not None
    ]
    scale = math.fsum(figure.weights) / (math.fsum(weight for _, weight in with_data) or 1.0)
    yield from ((part, weight * scale) for part, weight in with_data)


class ConstantPart(NamedTuple):
    """A part that no cluster moves: `width` is how far it could move the whole, `observations` how
    many it has.
    """

    width: float
    observations: float


def max_shift(parts: Sequence[ConstantPart], share: Callable[[float], float]) -> float:
    """How far these parts together may move the whole. `share` takes a number of observations and
    returns the share of the width that they leave open. A weighted sum has W^2 / sum(w^2 / n)
    observations.
    """
    observed = [part for part in parts if part.observations]
    unobserved = [part.width for part in parts if not part.observations]
    whole = math.fsum(part.width for part in observed)
    if not whole:
        return math.hypot(*unobserved)
    count = whole**2 / math.fsum(part.width**2 / part.observations for part in observed)
    return math.hypot(whole * share(count), *unobserved)


def value_of(figure: Figure, sums: Mapping[str, Sums]) -> float | None:
    """The value of a figure from sums that may lack some of its cells."""
    return figure.statistic({cell: sums[cell] for cell in figure.cells if cell in sums})


def _weights(cells: Sequence[_Clusters], divisor: Sequence[str]) -> Iterator[float]:
    """The non-zero weights of clusters, each from the first cell that counts the cluster."""
    counted = set[str]()
    for clusters in cells:
        weights = _weights_by_id(clusters, divisor)
        for name, sums in clusters.items():
            if (weight := weights[id(sums)]) and name not in counted:
                yield weight
                if len(cells) > 1:
                    # Names of a single cell are distinct; there are many in a large run.
                    counted.add(name)


def _weights_by_id(clusters: _Clusters, divisor: Sequence[str]) -> dict[int, float]:
    return {id(sums): _weight(sums, divisor) for sums, _ in distinct(clusters.values())}


def _weight(sums: Sums, divisor: Sequence[str]) -> float:
    if not divisor:
        return 1.0
    return len([name for name in divisor if sums.get(name)]) / len(divisor)
