"""The number of jobs published ahead of a topic's workers, and the turns of runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

_FIRST, _LEAST, _MOST = 64, 16, 4096


class TopicWindow:
    """The window of one topic: at most `size` of its messages wait for a worker.

    It doubles when the workers empty it between two measurements, and shrinks while more than half
    of it waits: it should hold what they take within a second.

    Turns follow start-time fair queueing: every job costs a run the inverse of its weight, and the
    run that has spent least is next. A later run begins with what the others have spent, less a
    window of its own, as it waits behind theirs.
    """

    def __init__(self) -> None:
        self.size = _FIRST
        self._waiting, self._limit = 0, _FIRST
        self._was_full = False
        self._spent: dict[str, float] = {}
        self._now = 0.0

    @property
    def has_room(self) -> bool:
        """Whether another job may be published."""
        room = self._waiting < self._limit
        self._was_full |= not room
        return room

    def measure(self, untaken: Sequence[int], share: float = 1.0) -> None:
        """Note the untaken messages of each partition. `share` of the room is for this aggregator,
        the rest for others.
        """
        self._waiting = sum(untaken)
        if self._was_full:
            if 2 * sum(not count for count in untaken) >= len(untaken):
                self.size = min(2 * self.size, _MOST)
            elif 2 * self._waiting > self.size:
                self.size = max(self.size * 3 // 4, _LEAST)
        self._was_full = False
        self._limit = self._waiting + ceil(share * max(0, self.size - self._waiting))

    def turn(self, run: str, weight: int) -> float:
        """The place of a run among the waiting ones: the lowest is next."""
        return max(self._spent.get(run, float("-inf")), self._now - self._waiting / weight)

    def forget(self, run: str) -> None:
        """Forget a run's spending, as its jobs are out."""
        self._spent.pop(run, None)

    def spend(self, run: str, weight: int) -> None:
        """Note a turn of a run: its job is published, or a job that leads here."""
        turn = self.turn(run, weight)
        self._now = max(self._now, turn)
        self._spent[run] = turn + 1 / weight

    def add(self) -> None:
        """Note that a message is published."""
        self._waiting += 1
