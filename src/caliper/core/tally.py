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
Entry = tuple[str, str, Sums]
"""A cell, a cluster, and what the cell has of it."""


class Shared:
    """Equal sums in memory once, of those that were met lately: whoever holds a hundred thousand
    clusters has few sums that differ.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._known: dict[tuple[tuple[str, Amount], ...], Sums] = {}

    def __call__(self, sums: Sums) -> Sums:
        """Equal sums, which may be those of somebody else: they must not be changed."""
        if len(self._known) >= self._most:
            self._known.clear()
        return self._known.setdefault(tuple(sums.items()), sums)


class Tally:
    """Sums per (cell, cluster)."""

    __hash__ = None  # type: ignore[assignment]  # it changes while it is filled

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, Sums]] = {}
        self._shared = Shared()

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
                clusters[cluster] = self._shared(add_up((clusters.get(cluster, {}), sums)))

    def withdraw(self, entries: Iterable[Entry]) -> None:
        """Take away what was absorbed before. A cluster of which nothing is left is gone, and so
        is a cell without clusters.
        """
        for cell, cluster, sums in entries:
            clusters = self._cells[cell]
            taken = {name: -amount for name, amount in sums.items()}
            left = add_up((clusters[cluster], taken))
            if any(left.values()):
                clusters[cluster] = self._shared(left)
                continue
            del clusters[cluster]
            if not clusters:
                del self._cells[cell]

    def entries(self) -> Iterator[Entry]:
        """All that it holds, cell by cell."""
        for cell, clusters in self._cells.items():
            for cluster, sums in clusters.items():
                yield cell, cluster, sums

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
