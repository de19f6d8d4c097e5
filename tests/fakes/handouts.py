"""A topic with its commits, and members that hand out its messages, without a broker."""

from __future__ import annotations

from caliper.adapters.streams.delivery_window import DeliveryWindow
from caliper.adapters.streams.progress import CommitMark
from caliper.core.envelopes import Delivery, Message


class Log:
    """A topic with its commits, and the time: the part that outlives members."""

    def __init__(self, *lengths: int) -> None:
        self.lengths = dict(enumerate(lengths))
        self.marks: dict[int, CommitMark] = {}
        self.seconds = 0.0

    def member(self, name: str, room: int = 16, session: float = 15.0) -> Member:
        return Member(self, name, room, session)


class Member:
    """Drives a handout as the polling thread does."""

    def __init__(self, log: Log, name: str, room: int, session: float) -> None:
        self.log, self.batch = log, room
        self.handout = DeliveryWindow(name, room, session, lambda: self.log.seconds)
        self.positions: dict[int, int] = {}
        self.taken: dict[int, int] = {}
        for partition in log.lengths:
            self.adopt(partition)

    def adopt(self, partition: int) -> None:
        mark = self.log.marks.get(partition)
        self.positions[partition] = mark.offset if mark else 0
        self.handout.adopt(partition, mark)

    def turn(self) -> None:
        """Fetch until there is something to reserve, or nothing new to fetch."""
        while not self.fetch():
            if self.positions == self.taken:
                return
            self.taken = dict(self.positions)

    def fetch(self) -> bool:
        for partition in sorted(self.handout.fetchable()):
            start = self.positions[partition]
            end = min(start + self.batch, self.log.lengths[partition])
            for offset in range(start, end):
                message = Message("jobs", "a", f"{partition}/{offset}".encode())
                self.handout.stage(partition, offset, message)
            self.positions[partition] = end
        return self.handout.reserve()

    def commit(self) -> None:
        marks = self.handout.marks()
        self.log.marks |= marks
        self.handout.confirm(marks)

    def all_ready(self) -> list[Delivery]:
        deliveries: list[Delivery] = []
        while more := self.some_ready():
            deliveries += more
        return deliveries

    def some_ready(self, most: int = 1000) -> list[Delivery]:
        """The messages that one commit releases, at most this many."""
        self.turn()
        self.commit()
        deliveries: list[Delivery] = []
        while len(deliveries) < most and (delivery := self.handout.take()) is not None:
            deliveries.append(delivery)
        return deliveries

    def take_up_to(self, count: int, held: list[Delivery]) -> None:
        """Take messages until this many are held."""
        while len(held) < count:
            held += self.some_ready(count - len(held))

    def leave(self) -> None:
        self.log.marks |= self.handout.release(self.log.lengths)
