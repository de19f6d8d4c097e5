"""Questions whose score differs between two runs: where a checkpoint got better or worse."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from caliper.core.report import VerdictRow

Place = tuple[float, str, int]
"""The sort key of a change: minus its size, the benchmark, its index in the second run's plan."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose scores differ, by its indices in the plans of both runs. `size` is the
    second score minus the first; higher scores are better.
    """

    benchmark: str
    first: int
    second: int
    size: float

    @property
    def sort_key(self) -> Place:
        """The sort key: largest change first, then by benchmark and plan order."""
        return (-abs(self.size), self.benchmark, self.second)


@dataclass(slots=True)
class Changes:
    """Counts of questions, and the largest `limit` changes in each direction.

    `same` questions have equal scores in both runs; `unpaired` ones are in one run only, or
    Unscored in one of them: they say nothing about a change. `left_out` are those of them that both
    runs planned and one has a score of: by their index in the first and in the second run.
    """

    limit: int
    better: int = 0
    worse: int = 0
    same: int = 0
    unpaired: int = 0
    left_out: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    _largest: dict[bool, list[Change]] = field(default_factory=dict)

    def add(self, changes: Iterable[Change]) -> None:
        """Add changes, none of which was added before."""
        sides: dict[bool, list[Change]] = {False: [], True: []}
        for change in changes:
            sides[change.size > 0].append(change)
        self.better += len(sides[True])
        self.worse += len(sides[False])
        for side, added in sides.items():
            pool = [*self._largest.get(side, ()), *added]
            self._largest[side] = heapq.nsmallest(self.limit, pool, key=lambda one: one.sort_key)

    def largest(self, *, better: bool) -> tuple[Change, ...]:
        """The largest changes in one direction, in order."""
        return tuple(self._largest.get(better, ()))


@dataclass(frozen=True, slots=True)
class Flip:
    """One question with its scores and captions in both runs."""

    before: VerdictRow
    after: VerdictRow
    captions: tuple[str, str] = ("", "")

    @property
    def better(self) -> bool:
        """Whether the second run has the higher score."""
        return (self.after.score or 0.0) > (self.before.score or 0.0)


@dataclass(frozen=True, slots=True)
class Flips:
    """How many questions got better or worse, counted as in `Changes`, and the largest changes."""

    better: int
    worse: int
    same: int
    unpaired: int
    listed: tuple[Flip, ...] = ()

    def of(self, *, better: bool) -> tuple[Flip, ...]:
        """The listed flips in one direction, the largest change first."""
        return tuple(flip for flip in self.listed if flip.better is better)
