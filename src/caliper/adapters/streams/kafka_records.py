"""What a record of Kafka holds, as ports.stream tells it."""

from __future__ import annotations

from typing import Any

from caliper.ports.stream import Message


def message_of(record: Any) -> Message:
    """The message of a record that the client read; what is no UTF-8 in key or headers is
    replaced.
    """
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers}
    key = (record.key or b"").decode("utf-8", "replace")
    return Message(record.topic, key, record.value or b"", headers)
