"""Port to the job stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Messages of one key are delivered in the order they were published."""

    topic: str
    key: str
    value: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message as handed to a consumer. `attempt` counts from 1."""

    message: Message
    position: int
    attempt: int = 1


class Consumer(Protocol):
    """A member of a group of consumers of one topic."""

    async def receive(self) -> Delivery | None:
        """The next delivery; None when the topic was closed and nothing is left."""
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
    """Topics that carry bytes."""

    async def publish(self, message: Message) -> None:
        """Append. Waits while the topic is full. Raises StreamUnavailable."""
        ...

    def consumer(self, topic: str, group: str) -> Consumer: ...

    async def close_topic(self, topic: str) -> None:
        """Nothing more will be published: consumers end when they have drained it."""
        ...
