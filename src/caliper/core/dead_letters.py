"""Dead letters: what every stream writes on a message that it puts aside, and how it is read.

The topic dead-letters is a log. A letter stays in it as long as the topic keeps it; that its
job was put back on the topic where it came from is a message of its own, a mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caliper.core.envelopes import Delivery, Message, Record

DEAD_LETTERS = "dead-letters"
_OURS = ("error", "attempts", "crashes", "origin", "origin-partition", "origin-offset")
_REPLAYED = "replayed"


def letter(delivery: Delivery, error: str) -> Message:
    """The message for the topic dead-letters: value and headers as they came, and in headers
    the error, which begins with its class, how often the message was tried, and its origin.
    """
    message = delivery.message
    headers = {
        **message.headers,
        "error": error,
        "attempts": str(delivery.attempt),
        "crashes": str(delivery.crashes),
        "origin": message.topic,
        "origin-partition": str(delivery.partition),
        "origin-offset": str(delivery.offset),
    }
    return Message(DEAD_LETTERS, message.key, message.value, headers)


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter. `name` is its place in the topic, `partition-offset`; `timestamp` when it
    was put aside, in milliseconds since 1970 UTC; `job` the message as it came, to where it
    came from.
    """

    name: str
    timestamp: int
    job: Message
    headers: Mapping[str, str]

    @property
    def run(self) -> str:
        """The run that its job belongs to, as the message's key says."""
        return self.job.key.partition("/")[0]

    @property
    def error(self) -> str:
        """Why it was put aside: class and message."""
        return self.headers.get("error", "")

    @property
    def error_class(self) -> str:
        """The class of the error alone."""
        return self.error.partition(":")[0]


def read_letter(record: Record) -> Letter | None:
    """The letter in a record of the topic; None for one that is none, such as a mark."""
    headers = record.message.headers
    if "origin" not in headers:
        return None
    rest = {name: value for name, value in headers.items() if name not in _OURS}
    ours = {name: headers[name] for name in _OURS if name in headers}
    job = Message(headers["origin"], record.message.key, record.message.value, rest)
    return Letter(f"{record.partition}-{record.offset}", record.timestamp, job, ours)


def mark(found: Letter) -> Message:
    """The message for the topic dead-letters which says that a letter's job was put back."""
    return Message(DEAD_LETTERS, found.job.key, b"", {_REPLAYED: found.name})


def marked(record: Record) -> str | None:
    """The name of the letter that a mark is about; None for a record that is no mark."""
    return record.message.headers.get(_REPLAYED) if read_letter(record) is None else None
