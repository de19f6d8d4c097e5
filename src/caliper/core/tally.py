"""Exact sums that can be merged in any order.

A tally holds named amounts per cell (a task, a domain, a repeat of one) and per cluster (the media
file). Amounts are integers or Fractions, so merging is associative and commutative to the last
bit. A metric is a function of the sums of some cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

Amount = int | Fraction
Sums = Mapping[str, Amount]
Entry = tuple[str, str, Sums]
"""A cell, a cluster, and the sums of the cluster in the cell."""


class SumCache:
    """Interns recent sums, so that equal ones share memory: even 100,000 clusters have few distinct
    sums.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._interned: dict[tuple[tuple[str, Amount], ...], Sums] = {}

    def __call__(self, sums: Sums) -> Sums:
        """Equal sums, possibly shared: they must not be changed."""
        if len(self._interned) >= self._most:
            self._interned.clear()
        return self._interned.setdefault(tuple(sums.items()), sums)


class Tally:
    """Sums per (cell, cluster)."""

    __hash__ = None  # type: ignore[assignment]  # it changes while it is filled

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, Sums]] = {}
        self._sums = SumCache()

    def add(self, cell: str, cluster: str, **amounts: Amount) -> None:
        """Add amounts to a cluster of a cell."""
        clusters = self._cells.setdefault(cell, {})
        present = clusters.get(cluster)
        # Never in place: the current sums may be shared.
        clusters[cluster] = self._sums(add_up((present, amounts)) if present else amounts)

    def merge(self, other: Tally) -> Tally:
        """A new tally that holds both."""
        merged = Tally()
        merged.absorb(self)
        merged.absorb(other)
        return merged

    def absorb(self, other: Tally) -> None:
        """Add another tally. Equal sums of clusters then share memory."""
        for cell in other:
            clusters = self._cells.setdefault(cell, {})
            for cluster, sums in other.clusters(cell).items():
                present = clusters.get(cluster)
                clusters[cluster] = self._sums(add_up((present, sums)) if present else sums)

    def withdraw(self, entries: Iterable[Entry]) -> None:
        """Subtract entries that were absorbed before. Clusters with nothing left are removed, and
        so are cells without clusters.
        """
        for cell, cluster, sums in entries:
            clusters = self._cells[cell]
            negated = {name: -amount for name, amount in sums.items()}
            remaining = add_up((clusters[cluster], negated))
            if any(remaining.values()):
                clusters[cluster] = self._sums(remaining)
                continue
            del clusters[cluster]
            if not clusters:
                del self._cells[cell]

    def entries(self) -> Iterator[Entry]:
        """All entries, cell by cell."""
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
    """Add several sums, name by name."""
    total: dict[str, Amount] = {}
    for sums, times in distinct(parts):
        for name, amount in sums.items():
            added = amount if times == 1 else amount * times
            total[name] = total[name] + added if name in total else added
    return total


def distinct(parts: Iterable[Sums]) -> Iterator[tuple[Sums, int]]:
    """The sums and how often they occur. Equal ones of a tally are mostly one object, so there are
    few; those that are not occur several times.
    """
    every = list(parts)
    by_id = dict(zip(map(id, every), every, strict=True))
    return zip(by_id.values(), Counter(map(id, every)).values(), strict=True)
