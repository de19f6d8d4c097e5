"""The delivery window of one consumer: which messages it may deliver next, per partition.

A message passes through three stages: staged (fetched from the broker), reserved (a commit that
announces it is under way) and ready. A message is delivered only after its commit, so that the
next owner of the partition after a crash knows which messages were in flight. The window is the
peak number of messages in flight, however many are staged, to keep that set small.

The messages that were in flight at a crash, the suspects, are delivered one at a time, and each
commit names the one that is alone. If the worker dies again, that message is accused: all other
messages go first for some seconds, then it is delivered alone. So a message that kills its worker
is charged with every crash, and kills from outside are spread over the messages.

A member that loses a partition and lives on finishes what it works on. It claims these messages in
its last commit: the next owner lets them wait for some seconds, and then finds their replies.

Shared by the polling thread and the event loop; every method takes the lock.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Mapping
from random import Random
from threading import Lock

from caliper.adapters.streams.progress import CommitMark, OwnedPartition, PartitionProgress
from caliper.core.envelopes import Delivery, Message, position_of

# The maximum seconds that accused messages wait after their partition was adopted: no longer than a
# session. Each member draws its own: workers that are killed at one age must not always die with
# the same message.
_LONGEST_WAIT = 10.0

# Offset and partition.
_Place = tuple[int, int]


class DeliveryWindow:
    """The deliveries of the member named `member`. Fetching pauses while `room` messages wait.
    `session` is that of its group, in seconds.
    """

    def __init__(
        self,
        member: str,
        room: int,
        session: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._member, self._room, self._now = member, room, now
        longest = min(session, _LONGEST_WAIT)
        self._wait = Random(member).uniform(0, longest)  # noqa: S311 - no secret
        self._lock = Lock()
        self._parts: dict[int, OwnedPartition] = {}
        self._adoptions = 0
        # `_ready` is a heap: the oldest message of a partition goes first, so a retried message
        # precedes later ones of its key.
        self._staged: list[_Place] = []
        self._reserved: list[_Place] = []
        self._ready: list[_Place] = []
        # The attempt number of each delivered message.
        self._in_flight: dict[_Place, int] = {}
        # The peak number of messages in flight.
        self._peak = 1
        self._alone: _Place | None = None
        self._filling = True
        self._draining = False

    @property
    def partitions(self) -> set[int]:
        """The adopted partitions."""
        with self._lock:
            return set(self._parts)

    @property
    def holds_messages(self) -> bool:
        """Whether a message is not settled, or suspects have not arrived."""
        with self._lock:
            return bool(self._suspicious) or any(part.messages for part in self._parts.values())

    @property
    def settled_offsets(self) -> dict[int, int]:
        """The offset before which everything is settled, by partition, if known."""
        with self._lock:
            prefixes = {number: part.progress.prefix for number, part in self._parts.items()}
        return {number: prefix for number, prefix in prefixes.items() if prefix is not None}

    def adopt(self, partition: int, mark: CommitMark | None) -> None:
        """Take over a partition. `mark` is its last commit, None if there is none."""
        progress = PartitionProgress.restore(mark, self._member) if mark else PartitionProgress()
        with self._lock:
            self._adoptions += 1
            self._parts[partition] = OwnedPartition(progress, mark, self._adoptions, self._now())
            if progress.suspicious:
                for offset, other in self._ready:
                    self._parts[other].progress.released.discard(offset)
                self._staged += self._ready
                self._ready = []

    def release(self, partitions: Iterable[int]) -> dict[int, CommitMark]:
        """Forget these partitions. Returns what to commit for their next owner."""
        with self._lock:
            leaving = [partition for partition in partitions if partition in self._parts]
            for each in leaving:
                in_flight = [offset for offset, other in self._in_flight if other == each]
                self._parts[each].claim(in_flight, self._now())
            marks = {partition: self._parts[partition].progress.mark("") for partition in leaving}
            for partition in leaving:
                del self._parts[partition]
            for queue in (self._staged, self._reserved, self._ready):
                queue[:] = [place for place in queue if place[1] in self._parts]
            heapq.heapify(self._ready)
            for place in [place for place in self._in_flight if place[1] not in self._parts]:
                del self._in_flight[place]
            return {partition: mark for partition, mark in marks.items() if mark is not None}

    def give_up(self) -> None:
        """Note that nothing is worked on any more, for a member that leaves."""
        with self._lock:
            self._in_flight.clear()

    def drain(self) -> None:
        """Deliver nothing more, and accuse no message if the worker dies from now on."""
        with self._lock:
            self._draining, self._alone = True, None

    def fetchable(self) -> set[int]:
        """The partitions to fetch from."""
        with self._lock:
            suspicious = self._suspicious
            # Messages that wait because they are accused must not take the room of others.
            staged = self._unaccused
            waiting = len(staged) + len(self._reserved) + len(self._ready)
            if suspicious:
                # Nor may others take the room that suspects need.
                waiting = sum(partition in suspicious for _, partition in staged)
            if waiting >= self._room:
                self._filling = False
            elif waiting <= self._room // 2:
                self._filling = True
            return {
                partition
                for partition in suspicious or self._parts
                if self._filling and not self._parts[partition].progress.full
            }

    def stage(self, partition: int, offset: int, message: Message) -> None:
        """Stage a message from the broker."""
        with self._lock:
            if (part := self._parts.get(partition)) and part.progress.take(offset):
                part.messages[offset] = message
                self._staged.append((offset, partition))

    def missing_suspects(self) -> list[int]:
        """The partitions whose suspects have not arrived; their retention may have ended."""
        with self._lock:
            return [each for each in self._suspicious if not self._parts[each].progress.open]

    @property
    def _suspicious(self) -> set[int]:
        return {number for number, part in self._parts.items() if part.progress.suspicious}

    def skip_to(self, partition: int, offset: int) -> None:
        """Note that nothing before this offset will arrive any more."""
        with self._lock:
            progress = self._parts[partition].progress
            progress.end = max(offset, progress.end or 0)

    def reserve(self) -> bool:
        """Choose the messages to deliver after the next commit. Returns whether there are any."""
        with self._lock:
            busy = self._in_flight or self._ready or self._reserved
            if self._draining or (busy and self._alone is not None):
                pass
            elif (candidates := self._next_alone()) is None:
                self._alone = None
                self._reserve_batch()
            elif not busy:
                self._reserve_one(candidates)
            for offset, partition in self._reserved:
                self._parts[partition].progress.released.add(offset)
            return bool(self._reserved)

    def _next_alone(self) -> list[_Place] | None:
        """The staged messages that must be delivered alone now: suspects, or else accused ones
        after their wait. None if there are none; empty if suspects were not fetched yet.
        """
        if self._suspicious:
            ends = {number: part.progress.suspects_before for number, part in self._parts.items()}
            return [place for place in self._unaccused if place[0] < ends[place[1]]]
        accused, due = filter(self._crashes, self._staged), self._now() - self._wait
        return [place for place in accused if self._parts[place[1]].adopted <= due] or None

    @property
    def _unaccused(self) -> list[_Place]:
        """The staged messages that were not alone when a worker died, and that nobody claims."""
        return [
            place
            for place in self._staged
            if not self._crashes(place)
            and not self._parts[place[1]].is_claimed(place[0], self._now())
        ]

    def _crashes(self, place: _Place) -> int:
        offset, partition = place
        return self._parts[partition].progress.try_counts(offset).crashes

    def _reserve_one(self, candidates: list[_Place]) -> None:
        """Reserve the one with the fewest crashes, the oldest of these."""
        for place in sorted(candidates, key=lambda each: (self._crashes(each), each))[:1]:
            self._staged.remove(place)
            self._reserved, self._alone = [place], place

    def _reserve_batch(self) -> None:
        if not self._is_low:
            return
        limits = {partition: part.progress.limit for partition, part in self._parts.items()}
        near = [place for place in sorted(self._unaccused) if place[0] < limits[place[1]]]
        batch = near[: self._peak - len(self._ready) - len(self._reserved)]
        self._reserved += batch
        self._staged = [place for place in self._staged if place not in batch]

    @property
    def _is_low(self) -> bool:
        return len(self._ready) + len(self._reserved) <= self._peak // 2

    @property
    def is_blocked(self) -> bool:
        """Whether staged messages wait for others to be delivered or settled."""
        with self._lock:
            return bool(self._unaccused)

    @property
    def may_reserve(self) -> bool:
        """Whether more staged messages may be reserved."""
        with self._lock:
            return bool(self._unaccused) and self._is_low

    def marks(self) -> dict[int, CommitMark]:
        """The commits that are due: the marks that differ from the last ones."""
        with self._lock:
            due = {}
            for partition, part in self._parts.items():
                offset, alone_in = self._alone or (0, None)
                mark = part.progress.mark(self._member, offset if alone_in == partition else None)
                if mark is not None and mark != part.committed:
                    due[partition] = mark
            return due

    def confirm(self, marks: Mapping[int, CommitMark]) -> None:
        """Note a successful commit: reserved messages become ready."""
        with self._lock:
            for partition, mark in marks.items():
                if partition in self._parts:
                    self._parts[partition].committed = mark
            for place in self._reserved:
                heapq.heappush(self._ready, place)
            self._reserved = []

    def take(self) -> Delivery | None:
        """The next delivery, None if none is ready."""
        with self._lock:
            if not self._ready:
                return None
            offset, partition = place = heapq.heappop(self._ready)
            part = self._parts[partition]
            counts = part.progress.try_counts(offset)
            self._in_flight[place] = counts.attempt
            self._peak = max(self._peak, len(self._in_flight))
            position, message = position_of(partition, offset), part.messages[offset]
            return Delivery(message, position, counts.attempt, counts.crashes, part.tenure)

    def owns(self, delivery: Delivery) -> bool:
        """Whether this delivery is neither settled nor lost to another member."""
        with self._lock:
            return self._in_flight.get((delivery.offset, delivery.partition)) == delivery.attempt

    def settle(self, delivery: Delivery) -> None:
        """Finish a delivery; no effect if it is not held."""
        with self._lock:
            if part := self._reclaim(delivery):
                part.progress.settle(delivery.offset)
                del part.messages[delivery.offset]

    def retry(self, delivery: Delivery) -> None:
        """Deliver it again, with the next attempt number; no effect if it is not held."""
        with self._lock:
            if part := self._reclaim(delivery):
                part.progress.retry(delivery.offset)
                self._staged.append((delivery.offset, delivery.partition))

    def _reclaim(self, delivery: Delivery) -> OwnedPartition | None:
        place = delivery.offset, delivery.partition
        if self._in_flight.get(place) != delivery.attempt:
            return None
        del self._in_flight[place]
        if self._alone == place:
            self._alone = None
        return self._parts[delivery.partition]
