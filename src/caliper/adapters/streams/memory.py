"""The job stream inside one process: topics, groups, redelivery and dead letters."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from caliper.core.dead_letters import DEAD_LETTERS, letter
from caliper.core.envelopes import Delivery, Message, Record


@dataclass(slots=True)
class _Group:
    """What a group has still to do: a heap of what is ready, and who holds the rest.

    `ready` holds (position, attempt): the oldest comes first, so a retried message goes
    ahead of later ones of its key.
    """

    ready: list[tuple[int, int]] = field(default_factory=list)
    held: dict[int, tuple[int, MemoryConsumer]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)

    def add(self, position: int) -> None:
        heapq.heappush(self.ready, (position, 1))
        self.open.add(position)


@dataclass(slots=True)
class _Topic:
    """Messages that some group has not finished, by position; of a `log` all messages."""

    name: str
    capacity: int | None
    log: bool = False
    messages: dict[int, Message] = field(default_factory=dict)
    timestamps: list[int] = field(default_factory=list)
    groups: dict[str, _Group] = field(default_factory=dict)
    end: int = 0
    closed: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def full(self) -> bool:
        return self.capacity is not None and len(self.messages) >= self.capacity

    def announce(self) -> None:
        """Wake whoever waits for room, for a message or for the end."""
        event, self.changed = self.changed, asyncio.Event()
        event.set()

    async def until(self, ready: Callable[[], bool]) -> None:
        while not ready():
            await self.changed.wait()

    def append(self, message: Message, timestamp: int) -> None:
        self.messages[self.end] = message
        if self.log:
            self.timestamps.append(timestamp)
        for group in self.groups.values():
            group.add(self.end)
        self.end += 1
        self.announce()

    def group(self, name: str) -> _Group:
        if name not in self.groups:
            self.groups[name] = group = _Group()
            for position in self.messages:
                group.add(position)
        return self.groups[name]

    def finish(self, group: _Group, position: int) -> None:
        group.open.discard(position)
        if not self.log and all(position not in other.open for other in self.groups.values()):
            del self.messages[position]
        self.announce()


class MemoryStream:
    """Topics in memory, for one event loop.

    A topic keeps at most `capacity` messages that some group has not acknowledged;
    `publish` waits while it is full. The topic dead-letters is not bounded: a worker must
    always be able to put a job aside. A group exists from its first consumer on, outlives
    its consumers, and starts with what no earlier group has finished.

    The topics in `logs` can also be read as logs, in one partition: they keep every message
    as long as the stream lives, and are never full. With `once` a log has one reader, and lets go
    of what that has passed. `now` gives their timestamps.
    """

    def __init__(
        self,
        capacity: int = 1024,
        logs: Collection[str] = (),
        *,
        once: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._capacity = capacity
        self._logs = frozenset(logs)
        self._now, self._once = now, once
        self._topics: dict[str, _Topic] = {}
        self._name = uuid4().hex

    async def publish(self, message: Message) -> None:
        """Append, waiting while the topic is full.

        Raises ValueError when the topic was closed: a defect of the caller.
        """
        topic = self._topic(message.topic)
        await topic.until(lambda: topic.closed or not topic.full)
        if topic.closed:
            raise ValueError(f"topic {topic.name} is closed")
        topic.append(message, round(self._now().timestamp() * 1000))

    def consumer(self, topic: str, group: str) -> MemoryConsumer:
        """A new member of the group. Members of one group share its messages."""
        found = self._topic(topic)
        return MemoryConsumer(self, found, found.group(group))

    async def close_topic(self, topic: str) -> None:
        """Nothing more will be published: consumers end when they have drained it."""
        found = self._topic(topic)
        found.closed = True
        found.announce()

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncIterator[Record]:
        """Every record from the offset on, and then what comes, until the topic is closed.

        Raises ValueError when the topic is not among the logs: a defect of the caller.
        """
        found = self._log(topic)
        offset = offsets.get(0, 0)
        if offset > found.end:
            # Of a log that ended with its process: whoever goes on from there finds a new one.
            offset = 0
        while True:
            while offset < found.end:
                yield Record(0, offset, found.timestamps[offset], found.messages[offset])
                if self._once:
                    del found.messages[offset]
                offset += 1
            if found.closed:
                return
            await found.changed.wait()

    async def identity(self, topic: str) -> str:
        """That of the stream: no log outlives it. Raises ValueError as `read` does."""
        self._log(topic)
        return self._name

    async def ends(self, topic: str) -> Mapping[int, int]:
        """The offset after the last record, if any. Raises ValueError as `read` does."""
        found = self._log(topic)
        return {0: found.end} if found.end else {}

    def _log(self, name: str) -> _Topic:
        topic = self._topic(name)
        if not topic.log:
            raise ValueError(f"topic {name} is not kept as a log")
        return topic

    def _topic(self, name: str) -> _Topic:
        if name not in self._topics:
            log = name in self._logs
            capacity = None if log or name == DEAD_LETTERS else self._capacity
            self._topics[name] = _Topic(name, capacity, log)
        return self._topics[name]


class MemoryConsumer:
    """A member of a group. What it no longer holds (it left) it cannot settle: no effect."""

    # Memory does not go away, and its one partition is everybody's.
    trouble = None
    rebalances = 0

    def __init__(self, stream: MemoryStream, topic: _Topic, group: _Group) -> None:
        self._stream, self._topic, self._group = stream, topic, group
        self._left = False

    @property
    def lag(self) -> Mapping[int, int]:
        """The messages that the group has not settled, all in one partition."""
        return {0: len(self._group.open)}

    async def receive(self) -> Delivery | None:
        """The oldest message that nobody in the group holds.

        None after `leave`, or when the topic was closed and the group has settled every
        message: what another member still holds may yet come back.
        """
        group, topic = self._group, self._topic
        await topic.until(
            lambda: self._left or bool(group.ready) or (topic.closed and not group.open)
        )
        if self._left or not group.ready:
            return None
        position, attempt = heapq.heappop(group.ready)
        group.held[position] = (attempt, self)
        return Delivery(topic.messages[position], position, attempt)

    async def acknowledge(self, delivery: Delivery) -> None:
        """Done with this one: it will not be delivered to the group again."""
        if self._settle(delivery):
            self._topic.finish(self._group, delivery.position)

    async def retry(self, delivery: Delivery) -> None:
        """Deliver it again, with the next attempt number, ahead of what came later."""
        if self._settle(delivery):
            heapq.heappush(self._group.ready, (delivery.position, delivery.attempt + 1))
            self._topic.announce()

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        """Move it to the topic dead-letters, with error, attempts and origin in headers."""
        if not self._settle(delivery):
            return
        # Not bounded, so this never waits: no cancellation can fall between the two steps.
        await self._stream.publish(letter(delivery, error))
        self._topic.finish(self._group, delivery.position)

    async def leave(self) -> None:
        """Leave the group; what was received and not acknowledged is delivered again."""
        self._left = True
        for position, (attempt, holder) in list(self._group.held.items()):
            if holder is self:
                del self._group.held[position]
                heapq.heappush(self._group.ready, (position, attempt))
        self._topic.announce()

    def _settle(self, delivery: Delivery) -> bool:
        """Whether this consumer held the delivery; it then no longer does."""
        attempt, holder = self._group.held.get(delivery.position, (0, None))
        if holder is not self or attempt != delivery.attempt:
            return False
        del self._group.held[delivery.position]
        return True
