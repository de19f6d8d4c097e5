"""Messages in Kafka's form: keys and headers as UTF-8, encoded by `wire.text`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.adapters.wire.text import from_wire, to_wire
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput


def encode_text(text: str) -> bytes:
    """A key or header value in the form of a record."""
    return to_wire(text).encode()


def encode_headers(headers: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Headers in the form of a record."""
    return [(to_wire(name), encode_text(value)) for name, value in headers.items()]


def message_of(record: Any, prefix: str) -> Message:
    """The message in a record of kafka-python, whose topic begins with the installation's prefix.

    Malformed text, in a record that Caliper did not write, is decoded with replacements instead
    of an error: readers of the topic must get past it.
    """
    headers = {_decode(name.encode()): _decode(value or b"") for name, value in record.headers}
    topic = record.topic.removeprefix(prefix)
    return Message(topic, _decode(record.key or b""), record.value or b"", headers)


def _decode(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    try:
        return from_wire(text)
    except InvalidInput:
        return text
