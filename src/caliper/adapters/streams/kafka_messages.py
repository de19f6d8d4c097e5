"""Messages as Kafka keeps them: keys and headers as UTF-8, in the way of `wire.text`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.adapters.wire.text import from_wire, to_wire
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput


def kept_text(text: str) -> bytes:
    """A key, or the value of a header, as a record holds it."""
    return to_wire(text).encode()


def kept_headers(headers: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Headers as a record holds them."""
    return [(to_wire(name), kept_text(value)) for name, value in headers.items()]


def message_of(record: Any) -> Message:
    """The message in a record of kafka-python: the one that was published.

    Of a record that Caliper did not write, what is no text of this kind is read as well as it
    can be: whoever reads a topic has to get past it.
    """
    headers = {_read(name.encode()): _read(value or b"") for name, value in record.headers}
    return Message(record.topic, _read(record.key or b""), record.value or b"", headers)


def _read(kept: bytes) -> str:
    text = kept.decode("utf-8", "replace")
    try:
        return from_wire(text)
    except InvalidInput:
        return text
