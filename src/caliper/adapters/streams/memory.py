"""The in-process job stream: topics, groups, redelivery and dead letters."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from caliper.core.dead_letters import DEAD_LETTERS, letter
from caliper.core.envelopes import Delivery, Message, Record
from caliper.ports.stream import Backlog


@dataclass(slots=True)
class _Group:
    """The unfinished messages of a group: a heap of ready ones, and the holders of the rest.

    `ready` holds pairs (position, attempt): the oldest comes first, so a retried message
    precedes later ones of its key.
    """

    ready: list[tuple[int, int]] = field(default_factory=list)
    holders: dict[int, tuple[int, MemoryConsumer]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)

    def add(self, position: int) -> None:
        heapq.heappush(self.ready, (position, 1))
        self.open.add(position)


@dataclass(slots=True)
class _Topic:
    """The messages that some group has not finished, by position; all messages if it is a `log`."""

    name: str
    capacity: int | None
    log: bool = False
    messages: dict[int, Message] = field(default_factory=dict)
    timestamps: dict[int, int] = field(default_factory=dict)
    groups: dict[str, _Group] = field(default_factory=dict)
    end: int = 0
    closed: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def full(self) -> bool:
        return self.capacity is not None and len(self.messages) >= self.capacity

    def announce(self) -> None:
        """Wake all tasks that wait for room, for a message or for the end."""
        event, self.changed = self.changed, asyncio.Event()
        event.set()

    async def until(self, ready: Callable[[], bool]) -> None:
        while not ready():
            await self.changed.wait()

    def append(self, message: Message, timestamp: int) -> None:
        self.messages[self.end] = message
        self.timestamps[self.end] = timestamp
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
            self.drop(position)
        self.announce()

    def drop(self, position: int) -> None:
        del self.messages[position], self.timestamps[position]


class MemoryStream:
    """Topics in memory, for one event loop.

    A topic holds at most `capacity` messages that some group has not acknowledged; `publish`
    waits while it is full. The topic dead-letters is unbounded: a worker must always be able to
    set a job aside. A group is created with its first consumer, outlives its consumers, and
    starts with the messages that no earlier group has finished.

    The topics in `logs` can also be read as logs with one partition: they keep every message
    while the stream exists, and are never full. With `once` a log has a single reader, and drops
    the messages that it has read. `now` supplies their timestamps.
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

        Raises ValueError if the topic was closed: a defect of the caller.
        """
        topic = self._topic(message.topic)
        await topic.until(lambda: topic.closed or not topic.full)
        if topic.closed:
            raise ValueError(f"topic {topic.name} is closed")
        topic.append(message, round(self._now().timestamp() * 1000))

    def consumer(self, topic: str, group: str) -> MemoryConsumer:
        """A new member of the group. Members of one group share its messages."""
        entry = self._topic(topic)
        return MemoryConsumer(self, entry, entry.group(group))

    async def backlog(self, topic: str, group: str) -> Backlog:
        """A group that never had a consumer gets what is still there."""
        entry = self._topic(topic)
        state = entry.groups.get(group)
        waiting = entry.messages.keys() if state is None else state.open
        oldest = entry.timestamps[min(waiting)] / 1000 if waiting else None
        return Backlog(len(waiting), entry.end - len(waiting), oldest)

    async def untaken(self, topic: str, group: str) -> Mapping[int, int]:
        """A group that never had a consumer gets what is still there."""
        entry = self._topic(topic)
        state = entry.groups.get(group)
        return {0: len(entry.messages if state is None else state.ready)}

    async def close_topic(self, topic: str) -> None:
        """End the topic: consumers end once they have drained it."""
        entry = self._topic(topic)
        entry.closed = True
        entry.announce()

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        """Every record from the offset on, and then new ones, until the topic is closed.

        Raises ValueError if the topic is not among the logs: a defect of the caller.
        """
        entry = self._log(topic)
        offset = offsets.get(0, 0)
        if offset > entry.end:
            # The offset belongs to the log of an earlier process.
            offset = 0
        while True:
            while offset < entry.end:
                yield Record(0, offset, entry.timestamps[offset], entry.messages[offset])
                if self._once:
                    entry.drop(offset)
                offset += 1
            if entry.closed:
                return
            await entry.changed.wait()

    async def identity(self, topic: str) -> str:
        """The stream's: no log outlives it. Raises ValueError as `read` does."""
        self._log(topic)
        return self._name

    async def ends(self, topic: str) -> Mapping[int, int]:
        """Raises ValueError as `read` does."""
        entry = self._log(topic)
        return {0: entry.end} if entry.end else {}

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
    """A member of a group. Settling a delivery that it no longer holds has no effect."""

    # Memory does not fail, and all members share its one partition.
    trouble = None
    rebalances = 0

    def __init__(self, stream: MemoryStream, topic: _Topic, group: _Group) -> None:
        self._stream, self._topic, self._group = stream, topic, group
        self._draining = False

    @property
    def lag(self) -> Mapping[int, int]:
        return {0: len(self._group.open)}

    async def receive(self) -> Delivery | None:
        """The oldest message that no member holds.

        None after `drain`, or once the topic is closed and the group has settled every message:
        a message that another member holds may yet come back.
        """
        group, topic = self._group, self._topic
        await topic.until(
            lambda: self._draining or bool(group.ready) or (topic.closed and not group.open)
        )
        if self._draining or not group.ready:
            return None
        position, attempt = heapq.heappop(group.ready)
        group.holders[position] = (attempt, self)
        return Delivery(topic.messages[position], position, attempt)

    async def acknowledge(self, delivery: Delivery) -> None:
        if self._settle(delivery):
            self._topic.finish(self._group, delivery.position)

    async def retry(self, delivery: Delivery) -> None:
        if self._settle(delivery):
            heapq.heappush(self._group.ready, (delivery.position, delivery.attempt + 1))
            self._topic.announce()

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        if not self._settle(delivery):
            return
        # Unbounded, so this never waits: no cancellation can fall between the two steps.
        await self._stream.publish(letter(delivery, error))
        self._topic.finish(self._group, delivery.position)

    def drain(self) -> None:
        self._draining = True
        self._topic.announce()

    async def leave(self) -> None:
        self.drain()
        for position, (attempt, holder) in list(self._group.holders.items()):
            if holder is self:
                del self._group.holders[position]
                heapq.heappush(self._group.ready, (position, attempt))
        self._topic.announce()

    def _settle(self, delivery: Delivery) -> bool:
        """Release the delivery. Returns whether this consumer held it."""
        attempt, holder = self._group.holders.get(delivery.position, (0, None))
        if holder is not self or attempt != delivery.attempt:
            return False
        del self._group.holders[delivery.position]
        return True
