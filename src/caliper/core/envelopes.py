"""Messages as a stream carries them, delivers them and keeps them in a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caliper.core.messages import MessageValue


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Messages of one key are delivered in the order they were published."""

    topic: str
    key: str
    value: MessageValue
    headers: Mapping[str, str] = field(default_factory=dict)


def bytes_of(message: Message) -> bytes:
    """The value of a message between processes. Raises TypeError for one that was never encoded,
    which is a defect of the caller.
    """
    if isinstance(message.value, bytes):
        return message.value
    raise TypeError(f"a message of {message.topic} was not encoded")


_OFFSETS = 1 << 48


def position_of(partition: int, offset: int) -> int:
    """The one number for a place in a topic, for streams whose topics have partitions."""
    return partition * _OFFSETS + offset


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message as handed to a consumer, from a position that is its own in the topic.

    `attempt` counts from 1, with every retry. `crashes` counts how often a consumer stopped
    uncleanly while this message was the only one that it had. `tenure` is another one when the
    consumer lost that part of the topic and got it back: others may have had it in between.
    """

    message: Message
    position: int
    attempt: int = 1
    crashes: int = 0
    tenure: int = 0

    @property
    def partition(self) -> int:
        """The part of the topic that it came from; 0 where topics have no parts."""
        return self.position // _OFFSETS

    @property
    def offset(self) -> int:
        """Its number within the partition."""
        return self.position % _OFFSETS


@dataclass(frozen=True, slots=True)
class Record:
    """A message where it stands in a topic that is read as a log.

    `timestamp` is when it was published, in milliseconds since 1970 UTC: the only order
    between partitions there is.
    """

    partition: int
    offset: int
    timestamp: int
    message: Message
