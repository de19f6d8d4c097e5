"""Port to the job stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from caliper.core.envelopes import Delivery, Message, Record


class Consumer(Protocol):
    """A member of a group of consumers of one topic.

    `lag` says how many messages of each of its partitions the group has still to settle, as far
    as it knows; `rebalances` how often partitions came to it or were taken from it.
    """

    @property
    def lag(self) -> Mapping[int, int]: ...

    @property
    def rebalances(self) -> int: ...

    @property
    def trouble(self) -> Exception | None:
        """What keeps it from the stream at this moment; None while it is in touch."""
        ...

    async def receive(self) -> Delivery | None:
        """The next delivery; None after `leave`, and at the end of a topic that has one.

        Raises StreamUnavailable when the stream has not answered for a while; it may be
        called again.
        """
        ...

    async def acknowledge(self, delivery: Delivery) -> None:
        """Done with this one: it will not be delivered to the group again."""
        ...

    async def retry(self, delivery: Delivery) -> None:
        """Deliver it again, with the next attempt number."""
        ...

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        """Move it to the topic dead-letters with the error, attempts and origin in headers."""
        ...

    async def leave(self) -> None:
        """Leave the group; what was received and not acknowledged is delivered again."""
        ...


class JobStream(Protocol):
    """Topics that carry messages."""

    async def publish(self, message: Message) -> None:
        """Append. Waits while the topic is full. Raises StreamUnavailable."""
        ...

    def consumer(self, topic: str, group: str) -> Consumer: ...


class LogReader(Protocol):
    """Topics read from any place on, by whoever likes, in no group: reading settles nothing."""

    def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncIterator[Record]:
        """Every record from the offset given for its partition on, in order within it, and
        then whatever is published, without an end; ends when the topic was closed.

        A partition that is not named is read from the first record that is kept; so is one
        whose offset is no longer kept, or beyond its end. Raises StreamUnavailable.
        """
        ...

    async def identity(self, topic: str) -> str:
        """Which log the topic is: another one once it was deleted and made anew, wherever; empty
        where that is not told. Raises StreamUnavailable.
        """
        ...

    async def ends(self, topic: str) -> Mapping[int, int]:
        """The offset after the last record of every partition that keeps any: a reader that
        got there is as far as the log was when it asked. Raises StreamUnavailable.
        """
        ...
