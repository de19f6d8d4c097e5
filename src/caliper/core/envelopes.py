"""Messages as a stream carries them, delivers them and stores them in a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caliper.core.messages import MessageValue


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Messages with the same key are delivered in the order they were published."""

    topic: str
    key: str
    value: MessageValue
    headers: Mapping[str, str] = field(default_factory=dict)


def bytes_of(message: Message) -> bytes:
    """The encoded value of a message. Raises TypeError if it was never encoded: a bug in the
    caller.
    """
    if isinstance(message.value, bytes):
        return message.value
    raise TypeError(f"a message of {message.topic} was not encoded")


_OFFSETS = 1 << 48


def position_of(partition: int, offset: int) -> int:
    """A single number for a place in a partitioned topic."""
    return partition * _OFFSETS + offset


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message as handed to a consumer. `position` is unique within the topic.

    `attempt` counts from 1 and grows with every retry. `crashes` counts how often a consumer
    stopped uncleanly while this was its only message. `tenure` changes when the consumer loses
    the partition and gets it back: others may have owned it in between.
    """

    message: Message
    position: int
    attempt: int = 1
    crashes: int = 0
    tenure: int = 0

    @property
    def partition(self) -> int:
        """The partition; 0 where topics have none."""
        return self.position // _OFFSETS

    @property
    def offset(self) -> int:
        """The offset within the partition."""
        return self.position % _OFFSETS


@dataclass(frozen=True, slots=True)
class Record:
    """A message and its place in a topic that is read as a log.

    `timestamp` is when it was published, in milliseconds since 1970 UTC: the only order that
    holds across partitions.
    """

    partition: int
    offset: int
    timestamp: int
    message: Message
