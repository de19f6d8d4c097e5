"""What a member of a group of consumers may hand out next, partition by partition.

Messages pass through three places: staged (taken from the broker), reserved (a commit that
says so is on its way) and ready. A message is handed out only after a commit says that it may
be: whoever owns the partition after an unclean stop then knows what was in flight. Only as
many may be as were ever out at once, so that it knows that well, however many are staged.

While some of what was in flight at an unclean stop is not settled, messages go out one at a
time, and the commit names the one that is alone. A message that kills its worker is so charged
with every crash, and an innocent one beside it never is.

Shared by the thread that polls and the event loop; every method takes the lock.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from caliper.adapters.streams.progress import CommitMark, PartitionProgress
from caliper.core.envelopes import Delivery, Message, position_of

# Offset and partition.
_Place = tuple[int, int]


@dataclass(slots=True)
class _Part:
    """A partition: its progress, its messages that are not settled, its last commit; `tenure` is
    the how many-th that was adopted.
    """

    progress: PartitionProgress
    tenure: int
    messages: dict[int, Message] = field(default_factory=dict)
    committed: CommitMark | None = None


class DeliveryWindow:
    """Of one member, who calls itself `member`. No more is wanted while `room` messages wait."""

    def __init__(self, member: str, room: int) -> None:
        self._member, self._room = member, room
        self._lock = Lock()
        self._parts: dict[int, _Part] = {}
        self._adopted = 0
        # `ready` is a heap: what waits longest in its partition goes first, and a retried
        # message before the later ones of its key.
        self._staged: list[_Place] = []
        self._reserved: list[_Place] = []
        self._ready: list[_Place] = []
        # The attempt of what was handed out.
        self._out: dict[_Place, int] = {}
        # The most that were out at once.
        self._peak = 1
        self._alone: _Place | None = None
        self._filling = True

    @property
    def partitions(self) -> set[int]:
        """Those that are adopted."""
        with self._lock:
            return set(self._parts)

    @property
    def reached(self) -> dict[int, int]:
        """The offset before which everything is settled, by partition, where it is known."""
        with self._lock:
            prefixes = {number: part.progress.prefix for number, part in self._parts.items()}
        return {number: prefix for number, prefix in prefixes.items() if prefix is not None}

    def adopt(self, partition: int, mark: CommitMark | None) -> None:
        """This partition is ours from the last commit on; None when there is none."""
        progress = PartitionProgress.resumed(mark, self._member) if mark else PartitionProgress()
        with self._lock:
            self._adopted += 1
            self._parts[partition] = _Part(progress, self._adopted, committed=mark)
            if progress.suspicious:
                self._take_back()

    def _take_back(self) -> None:
        for offset, partition in self._ready:
            self._parts[partition].progress.released.discard(offset)
        self._staged += self._ready
        self._ready = []

    def give_up(self, partitions: Iterable[int]) -> dict[int, CommitMark]:
        """These are ours no longer: forget them. What to commit for the next owner."""
        with self._lock:
            leaving = [partition for partition in partitions if partition in self._parts]
            marks = {partition: self._parts[partition].progress.mark("") for partition in leaving}
            for partition in leaving:
                del self._parts[partition]
            self._staged = [place for place in self._staged if place[1] in self._parts]
            self._reserved = [place for place in self._reserved if place[1] in self._parts]
            self._ready = [place for place in self._ready if place[1] in self._parts]
            heapq.heapify(self._ready)
            for place in [place for place in self._out if place[1] not in self._parts]:
                del self._out[place]
            return {partition: mark for partition, mark in marks.items() if mark is not None}

    def wanted(self) -> set[int]:
        """The partitions to take messages from."""
        with self._lock:
            suspicious = {
                partition for partition, part in self._parts.items() if part.progress.suspicious
            }
            waiting = len(self._staged) + len(self._reserved) + len(self._ready)
            if suspicious:
                # Others' messages must not fill the room that the suspects need.
                waiting = sum(partition in suspicious for _, partition in self._staged)
            if waiting >= self._room:
                self._filling = False
            elif waiting <= self._room // 2:
                self._filling = True
            return {
                partition
                for partition in suspicious or self._parts
                if self._filling and not self._parts[partition].progress.full
            }

    def arrived(self, partition: int, offset: int, message: Message) -> None:
        """A message was taken from the broker."""
        with self._lock:
            part = self._parts.get(partition)
            if part is not None and part.progress.take(offset):
                part.messages[offset] = message
                self._staged.append((offset, partition))

    def missing(self) -> list[int]:
        """Partitions where suspects are still to arrive; their retention may have ended."""
        with self._lock:
            return [
                partition
                for partition, part in self._parts.items()
                if part.progress.suspicious and not part.progress.open
            ]

    def skipped_to(self, partition: int, offset: int) -> None:
        """Nothing before this offset will arrive any more."""
        with self._lock:
            progress = self._parts[partition].progress
            progress.end = max(offset, progress.end or 0)

    def reserve(self) -> bool:
        """Choose what may go out after the next commit. Whether that is anything."""
        with self._lock:
            if any(part.progress.suspicious for part in self._parts.values()):
                self._reserve_one()
            else:
                self._alone = None
                self._reserve_near()
            for offset, partition in self._reserved:
                self._parts[partition].progress.released.add(offset)
            return bool(self._reserved)

    def _reserve_near(self) -> None:
        if not self._low:
            return
        limits = {partition: part.progress.limit for partition, part in self._parts.items()}
        near = [place for place in sorted(self._staged) if place[0] < limits[place[1]]]
        chosen = near[: self._peak - len(self._ready) - len(self._reserved)]
        self._reserved += chosen
        self._staged = [place for place in self._staged if place not in chosen]

    @property
    def _low(self) -> bool:
        return len(self._ready) + len(self._reserved) <= self._peak // 2

    @property
    def holds_back(self) -> bool:
        """Whether there are messages that wait for others to be taken or settled."""
        with self._lock:
            return bool(self._staged)

    @property
    def runs_low(self) -> bool:
        """Whether more of what is held back may go out."""
        with self._lock:
            return bool(self._staged) and self._low

    def _reserve_one(self) -> None:
        if self._out or self._ready or self._reserved:
            return
        self._alone = None
        for place in sorted(self._staged):
            offset, partition = place
            if offset < self._parts[partition].progress.suspects_before:
                self._staged.remove(place)
                self._reserved, self._alone = [place], place
                return

    def marks(self) -> dict[int, CommitMark]:
        """What there is to commit: the marks that differ from the last ones."""
        with self._lock:
            found = {}
            for partition, part in self._parts.items():
                offset, where = self._alone or (0, None)
                mark = part.progress.mark(self._member, offset if where == partition else None)
                if mark is not None and mark != part.committed:
                    found[partition] = mark
            return found

    def committed(self, marks: Mapping[int, CommitMark]) -> None:
        """These were committed: what was reserved is ready."""
        with self._lock:
            for partition, mark in marks.items():
                if partition in self._parts:
                    self._parts[partition].committed = mark
            for place in self._reserved:
                heapq.heappush(self._ready, place)
            self._reserved = []

    def take(self) -> Delivery | None:
        """The next delivery, None when none is ready."""
        with self._lock:
            if not self._ready:
                return None
            offset, partition = place = heapq.heappop(self._ready)
            part = self._parts[partition]
            tried = part.progress.tried(offset)
            self._out[place] = tried.attempt
            self._peak = max(self._peak, len(self._out))
            position, message = position_of(partition, offset), part.messages[offset]
            return Delivery(message, position, tried.attempt, tried.crashes, part.tenure)

    def holds(self, delivery: Delivery) -> bool:
        """Whether this was handed out and neither settled since nor lost to another member."""
        with self._lock:
            return self._out.get((delivery.offset, delivery.partition)) == delivery.attempt

    def settle(self, delivery: Delivery) -> None:
        """Done with this one; no effect on what is not held."""
        with self._lock:
            part = self._returned(delivery)
            if part is not None:
                part.progress.settle(delivery.offset)
                del part.messages[delivery.offset]

    def retry(self, delivery: Delivery) -> None:
        """Hand this one out again, with the next attempt; no effect on what is not held."""
        with self._lock:
            part = self._returned(delivery)
            if part is not None:
                part.progress.retry(delivery.offset)
                self._staged.append((delivery.offset, delivery.partition))

    def _returned(self, delivery: Delivery) -> _Part | None:
        place = delivery.offset, delivery.partition
        if self._out.get(place) != delivery.attempt:
            return None
        del self._out[place]
        if self._alone == place:
            self._alone = None
        return self._parts[delivery.partition]
