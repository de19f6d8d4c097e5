"""Port to the job stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Protocol

from caliper.core.envelopes import Delivery, Message, Record


@dataclass(frozen=True, slots=True)
class Backlog:
    """Counts of a topic's messages that a group has not settled (`waiting`) and has `settled`.
    `oldest` is when the first waiting one was published, in seconds since 1970; None without any.
    """

    waiting: int
    settled: int
    oldest: float | None = None


class GroupMember(Protocol):
    """The state of a member of a consumer group of one topic.

    `lag` is the number of unsettled messages of the group per partition of this member, as far
    as known. `rebalances` counts how often partitions were assigned to it or revoked.
    """

    @property
    def lag(self) -> Mapping[int, int]: ...

    @property
    def rebalances(self) -> int: ...


class Consumer(GroupMember, Protocol):
    """A member of a consumer group of one topic."""

    @property
    def trouble(self) -> Exception | None:
        """The current connection error, or why it is not a member of its group yet, or any more;
        None while the stream is reachable and it may receive.
        """
        ...

    async def receive(self) -> Delivery | None:
        """The next delivery; None after `drain` or `leave`, and at the end of a finite topic.

        Raises StreamUnavailable if the stream has not answered for a while; the call may be
        repeated.
        """
        ...

    async def acknowledge(self, delivery: Delivery) -> None:
        """Mark the delivery as done: the group will not receive it again. Raises nothing, even
        if the stream cannot be reached; nor do `retry` and `leave`.
        """
        ...

    async def retry(self, delivery: Delivery) -> None:
        """Redeliver with the next attempt number."""
        ...

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        """Move it to the topic dead-letters, with error, attempts and origin as headers.

        Raises StreamUnavailable; the delivery is then still held.
        """
        ...

    def drain(self) -> None:
        """Receive nothing more. Deliveries already received can still be settled."""
        ...

    async def leave(self) -> None:
        """Leave the group; unacknowledged deliveries are redelivered."""
        ...


class JobStream(Protocol):
    """Topics that carry messages."""

    async def publish(self, message: Message) -> None:
        """Append a message. Waits while the topic is full. Raises StreamUnavailable."""
        ...

    def consumer(self, topic: str, group: str) -> Consumer: ...

    async def backlog(self, topic: str, group: str) -> Backlog:
        """The backlog of the group, with or without members. Raises StreamUnavailable."""
        ...

    async def untaken(self, topic: str, group: str) -> Mapping[int, int]:
        """The number of messages in each partition that no member of the group has received yet.
        Cheaper than `backlog`. Raises StreamUnavailable.
        """
        ...


class LogReader(Protocol):
    """Reads topics from any offset, without a consumer group: nothing is acknowledged."""

    def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        """All records from the offset of each partition on, in order within a partition, then new
        ones as they are published. Ends only when the topic is closed.

        A partition is read from its earliest retained record if it has no offset here, or one
        that is no longer retained or beyond its end. Raises StreamUnavailable.
        """
        ...

    async def identity(self, topic: str) -> str:
        """The id of the topic's log, which changes when the topic is deleted and recreated
        anywhere; empty if unknown. Raises StreamUnavailable.
        """
        ...

    async def ends(self, topic: str) -> Mapping[int, int]:
        """The end offset of every partition that retains records: a reader that has reached these
        has read everything published before the call. Raises StreamUnavailable.
        """
        ...
