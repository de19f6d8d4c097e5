"""Questions whose score differs between two runs: where a checkpoint got better or worse."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from caliper.core.report import VerdictRow

Place = tuple[float, str, int]
"""Where a change stands among others: minus its size, the benchmark, its index in the second
run's plan.
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A question that both runs scored otherwise, by its indices in their plans. `by` is the
    second score minus the first; a higher score is the better one.
    """

    benchmark: str
    first: int
    second: int
    by: float

    @property
    def place(self) -> Place:
        """Largest change first, then by benchmark and plan order."""
        return (-abs(self.by), self.benchmark, self.second)


@dataclass(slots=True)
class Changes:
    """Counts of questions, and the largest `limit` changes of each direction.

    `same` questions have one score in both runs; `unpaired` are in one run alone, or Unscored
    in one of them: they tell nothing.
    """

    limit: int
    better: int = 0
    worse: int = 0
    same: int = 0
    unpaired: int = 0
    _largest: dict[bool, list[Change]] = field(default_factory=dict)

    def take(self, changes: Iterable[Change]) -> None:
        """Count changes, of which none has been counted before."""
        sides: dict[bool, list[Change]] = {False: [], True: []}
        for change in changes:
            sides[change.by > 0].append(change)
        self.better += len(sides[True])
        self.worse += len(sides[False])
        for side, found in sides.items():
            held = [*self._largest.get(side, ()), *found]
            self._largest[side] = heapq.nsmallest(self.limit, held, key=lambda one: one.place)

    def largest(self, *, better: bool) -> tuple[Change, ...]:
        """The largest changes of one direction, in their order."""
        return tuple(self._largest.get(better, ()))


@dataclass(frozen=True, slots=True)
class Flip:
    """One question as both runs scored it, with what their captions say."""

    before: VerdictRow
    after: VerdictRow
    captions: tuple[str, str] = ("", "")

    @property
    def better(self) -> bool:
        """Whether the second run has the higher score."""
        return (self.after.score or 0.0) > (self.before.score or 0.0)


@dataclass(frozen=True, slots=True)
class Flips:
    """How many questions got better or worse, as `Changes` counts them, and the largest of
    these changes.
    """

    better: int
    worse: int
    same: int
    unpaired: int
    listed: tuple[Flip, ...] = ()

    def of(self, *, better: bool) -> tuple[Flip, ...]:
        """Those of one direction that are listed, the largest change first."""
        return tuple(flip for flip in self.listed if flip.better is better)
