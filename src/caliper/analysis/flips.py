"""Questions whose score differs between two runs: where a checkpoint got better or worse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from caliper.core.report import VerdictRow


@dataclass(frozen=True, slots=True)
class Flip:
    """One question as both runs scored it. A higher score is the better one."""

    before: VerdictRow
    after: VerdictRow
    change: float

    @property
    def better(self) -> bool:
        """Whether the second run has the higher score."""
        return self.change > 0


@dataclass(frozen=True, slots=True)
class Flips:
    """Largest change first, then by benchmark and plan order.

    `same` questions have one score in both runs; `unpaired` are in one run alone, or Unscored
    in one of them: they tell nothing.
    """

    better: tuple[Flip, ...]
    worse: tuple[Flip, ...]
    same: int
    unpaired: int


def flips(first: Iterable[VerdictRow], second: Iterable[VerdictRow]) -> Flips:
    """What changed from the first run to the second, question by question."""
    before = {_key(row): row for row in first}
    found: list[Flip] = []
    same = unpaired = 0
    for row in second:
        old = before.pop(_key(row), None)
        if old is None or old.score is None or row.score is None:
            unpaired += 1
        elif old.score == row.score:
            same += 1
        else:
            found.append(Flip(old, row, row.score - old.score))
    found.sort(key=lambda flip: (-abs(flip.change), flip.after.benchmark, flip.after.index))
    return Flips(
        better=tuple(flip for flip in found if flip.better),
        worse=tuple(flip for flip in found if not flip.better),
        same=same,
        unpaired=unpaired + len(before),
    )


def _key(row: VerdictRow) -> tuple[str, str, int]:
    return (row.benchmark, row.question_id, row.repeat)
