"""Rolling windows over the samples that were judged last, and the tally of what is in them.

A sample enters at the place of the last message that told something new about it, and counts
with all that is known of it: the verdicts of a sample are not independent, and stay together.
Places are ordered by the broker's time, ties by partition and offset, so that a window does not
depend on the order in which partitions were read.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from caliper.core.tally import Entry, Shared, Tally

Place = tuple[int, int, int]
"""Milliseconds since 1970 by the broker's clock, partition, offset."""
Key = tuple[str, str]
"""Run and sample."""

MOST = 10_000
"""Samples that a window holds at most, whatever its length."""


@dataclass(frozen=True, slots=True)
class SampleScore:
    """A sample at its place: how many of its questions are scored, and what it adds."""

    place: Place
    scored: int
    tally: Tally


class _Held(NamedTuple):
    """What is kept of a `SampleScore` as long as it is in the window, in a quarter of its room."""

    place: Place
    scored: int
    entries: tuple[Entry, ...]


@dataclass(slots=True)
class RollingWindow:
    """The last samples that hold at least `scored` scored verdicts between them, or, without
    that, those whose place is not older than `age` milliseconds. `tally` is that of them all.
    """

    scored: int | None = None
    age: int | None = None
    most: int = MOST
    tally: Tally = field(default_factory=Tally)
    _order: list[tuple[Place, Key]] = field(default_factory=list)
    _held: dict[Key, _Held] = field(default_factory=dict)
    _shared: Shared = field(default_factory=Shared)
    _count: int = 0

    def __len__(self) -> int:
        return len(self._order)

    def put(self, key: Key, judged: SampleScore) -> None:
        """Enter a sample, or move it to its new place. `trim` has to follow."""
        known = self._held.get(key)
        if known is not None:
            del self._order[bisect_left(self._order, (known.place, key))]
            self._leave(key)
        insort(self._order, (judged.place, key))
        self._held[key] = _Held(judged.place, judged.scored, tuple(self._slim(judged.tally)))
        self._count += judged.scored
        self.tally.absorb(judged.tally)

    def trim(self, now: int) -> bool:
        """Let go of what does not belong in the window at `now`, in milliseconds since 1970.
        Returns whether anything was.
        """
        gone = 0
        for place, key in self._order:
            if not self._too_much(place, key, now):
                break
            self._leave(key)
            gone += 1
        del self._order[:gone]
        return gone > 0

    def _too_much(self, place: Place, key: Key, now: int) -> bool:
        if len(self._held) > self.most:
            return True
        if self.age is not None and place[0] < now - self.age:
            return True
        return self.scored is not None and self._count - self._held[key].scored >= self.scored

    def _slim(self, tally: Tally) -> Iterator[Entry]:
        """Its entries, with names of cells and equal sums in memory once."""
        for cell, cluster, sums in tally.entries():
            yield sys.intern(cell), cluster, self._shared(sums)

    def _leave(self, key: Key) -> None:
        held = self._held.pop(key)
        self._count -= held.scored
        self.tally.withdraw(held.entries)
