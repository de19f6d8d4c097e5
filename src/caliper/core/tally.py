"""Exact sums that can be merged in any order.

A tally keeps, per cell (a task, a domain, a repeat of one) and per cluster (the media
file), named amounts. Amounts are integers or Fractions, so merging is associative and
commutative to the last bit, and a metric is a function of the sums of some cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

Amount = int | Fraction
Sums = Mapping[str, Amount]


class Tally:
    """Sums per (cell, cluster)."""

    __hash__ = None  # type: ignore[assignment]  # it changes while it is filled

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, dict[str, Amount]]] = {}
        self._shared: dict[tuple[tuple[str, Amount], ...], dict[str, Amount]] = {}

    def add(self, cell: str, cluster: str, **amounts: Amount) -> None:
        """Add amounts to what the cell has of the cluster."""
        clusters = self._cells.setdefault(cell, {})
        # Never in place: what stands may be shared.
        clusters[cluster] = add_up((clusters.get(cluster, {}), amounts))

    def merge(self, other: Tally) -> Tally:
        """A new tally that holds both."""
        merged = Tally()
        merged.absorb(self)
        merged.absorb(other)
        return merged

    def absorb(self, other: Tally) -> None:
        """Add all that the other tally holds. Equal sums of clusters then take room once."""
        for cell in other:
            clusters = self._cells.setdefault(cell, {})
            for cluster, sums in other.clusters(cell).items():
                added = add_up((clusters.get(cluster, {}), sums))
                clusters[cluster] = self._shared.setdefault(tuple(added.items()), added)

    def withdraw(self, other: Tally) -> None:
        """Take away what was absorbed before. A cluster of which nothing is left is gone, and so
        is a cell without clusters.
        """
        for cell in other:
            clusters = self._cells[cell]
            for cluster, sums in other.clusters(cell).items():
                taken = {name: -amount for name, amount in sums.items()}
                left = add_up((clusters[cluster], taken))
                if any(left.values()):
                    clusters[cluster] = self._shared.setdefault(tuple(left.items()), left)
                else:
                    del clusters[cluster]
            if not clusters:
                del self._cells[cell]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self._cells == other._cells

    def __contains__(self, cell: str) -> bool:
        return cell in self._cells

    def __iter__(self) -> Iterator[str]:
        """The cells, in the order they were first added to."""
        return iter(self._cells)

    def clusters(self, cell: str) -> Mapping[str, Sums]:
        """The sums of each cluster of a cell; empty when the cell is unknown."""
        return self._cells.get(cell, {})

    def total(self, cell: str) -> dict[str, Amount]:
        """The sums of a cell over its clusters; empty when the cell is unknown."""
        return add_up(self.clusters(cell).values())


def add_up(parts: Iterable[Sums]) -> dict[str, Amount]:
    """The sums of several sums, name by name."""
    total: dict[str, Amount] = {}
    for sums in parts:
        for name, amount in sums.items():
            total[name] = total.get(name, 0) + amount
    return total
