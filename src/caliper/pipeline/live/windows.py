"""Rolling windows over the most recently judged samples, with the tally of their contents.

A sample enters a window at the place of the last message that changed it, with all of its
verdicts: these are not independent, so they stay together. Places are ordered by the broker's
time, then by partition and offset, so that a window does not depend on the order in which
partitions are read.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from caliper.core.tally import Entry, SumCache, Tally

Place = tuple[int, int, int]
"""Milliseconds since 1970 by the broker's clock, partition, offset."""
Key = tuple[str, str]
"""Run and sample."""

MAX_SAMPLES = 10_000
"""The most samples in a window, whatever its length."""


@dataclass(frozen=True, slots=True)
class SampleScore:
    """A sample at its place: how many of its questions are scored, and its tally."""

    place: Place
    scored: int
    tally: Tally


class _CompactScore(NamedTuple):
    """A `SampleScore` in compact form, as stored in the window: a quarter of the memory."""

    place: Place
    scored: int
    entries: tuple[Entry, ...]


@dataclass(slots=True)
class RollingWindow:
    """The last samples that have at least `scored` scored verdicts together, or those at most
    `age` milliseconds old. `tally` is the sum over all of them.
    """

    min_scored: int | None = None
    age: int | None = None
    max_samples: int = MAX_SAMPLES
    tally: Tally = field(default_factory=Tally)
    _order: list[tuple[Place, Key]] = field(default_factory=list)
    _samples: dict[Key, _CompactScore] = field(default_factory=dict)
    _sums: SumCache = field(default_factory=SumCache)
    _count: int = 0

    def __len__(self) -> int:
        return len(self._order)

    def put(self, key: Key, sample: SampleScore) -> None:
        """Add a sample, or move it to its new place. Call `trim` afterwards."""
        previous = self._samples.get(key)
        if previous is not None:
            del self._order[bisect_left(self._order, (previous.place, key))]
            self._remove(key)
        insort(self._order, (sample.place, key))
        self._samples[key] = _CompactScore(
            sample.place, sample.scored, tuple(self._compact(sample.tally))
        )
        self._count += sample.scored
        self.tally.absorb(sample.tally)

    def trim(self, now: int) -> bool:
        """Drop the samples that are outside the window at `now` (milliseconds since 1970).
        Returns whether any were dropped.
        """
        dropped = 0
        for place, key in self._order:
            if not self._expired(place, key, now):
                break
            self._remove(key)
            dropped += 1
        del self._order[:dropped]
        return dropped > 0

    def _expired(self, place: Place, key: Key, now: int) -> bool:
        if len(self._samples) > self.max_samples:
            return True
        if self.age is not None and place[0] < now - self.age:
            return True
        return (
            self.min_scored is not None
            and self._count - self._samples[key].scored >= self.min_scored
        )

    def _compact(self, tally: Tally) -> Iterator[Entry]:
        """The entries of a tally, with names of cells and equal sums shared in memory."""
        for cell, cluster, sums in tally.entries():
            yield sys.intern(cell), cluster, self._sums(sums)

    def _remove(self, key: Key) -> None:
        sample = self._samples.pop(key)
        self._count -= sample.scored
        self.tally.withdraw(sample.entries)
