"""Dead letters: how every stream writes and reads them.

The topic dead-letters is a log, so a letter stays in it for the topic's retention time. When its
job is replayed to the topic of origin, a separate message (a mark) records that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caliper.core.envelopes import Delivery, Message, Record

DEAD_LETTERS = "dead-letters"
_LETTER_HEADERS = ("error", "attempts", "crashes", "origin", "origin-partition", "origin-offset")
_REPLAYED = "replayed"


def letter(delivery: Delivery, error: str) -> Message:
    """The dead letter for a delivery: its value and headers unchanged, plus headers for the error
    (which begins with its class), the number of attempts, and the origin.
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
    """A dead letter. `name` is its place in the topic, `partition-offset`. `timestamp` is when it
    was dead-lettered, in milliseconds since 1970 UTC. `job` is the original message, addressed to
    its topic of origin.
    """

    name: str
    timestamp: int
    job: Message
    headers: Mapping[str, str]

    @property
    def run(self) -> str:
        """The run of the job, taken from the message key."""
        return self.job.key.partition("/")[0]

    @property
    def error(self) -> str:
        """Why the job was dead-lettered: class and message."""
        return self.headers.get("error", "")

    @property
    def error_class(self) -> str:
        """The class of the error alone."""
        return self.error.partition(":")[0]


def read_letter(record: Record) -> Letter | None:
    """The letter in a record of the topic; None for any other record, such as a mark."""
    headers = record.message.headers
    if "origin" not in headers:
        return None
    original = {name: value for name, value in headers.items() if name not in _LETTER_HEADERS}
    added = {name: headers[name] for name in _LETTER_HEADERS if name in headers}
    job = Message(headers["origin"], record.message.key, record.message.value, original)
    return Letter(f"{record.partition}-{record.offset}", record.timestamp, job, added)


def mark(replayed: Letter) -> Message:
    """The mark for the topic dead-letters: this letter's job was replayed."""
    return Message(DEAD_LETTERS, replayed.job.key, b"", {_REPLAYED: replayed.name})


def marked_letter(record: Record) -> str | None:
    """The name of the letter that a mark refers to; None if the record is not a mark."""
    return record.message.headers.get(_REPLAYED) if read_letter(record) is None else None
