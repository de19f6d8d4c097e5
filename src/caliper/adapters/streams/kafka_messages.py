"""Messages in Kafka's form: keys and headers as UTF-8, encoded by `wire.text`."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from kafka.partitioner import DefaultPartitioner

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


class SamplePartitioner(DefaultPartitioner):  # type: ignore[misc] # kafka-python has no types
    """Sends messages about one sample, `run/benchmark/sample`, to one partition for every run.

    Equal jobs of two runs thus meet in one worker, which asks once.
    """

    def partition(self, topic: str, key: Any, serialized_key: bytes, *rest: Any) -> int:
        _, _, sample = serialized_key.partition(b"/")
        *_, cluster = rest
        partitions = cluster.partitions_for_topic(topic)
        if b"/" not in sample or not partitions:
            return int(super().partition(topic, key, serialized_key, *rest))
        return int(sorted(partitions)[zlib.crc32(sample) % len(partitions)])


def _decode(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    try:
        return from_wire(text)
    except InvalidInput:
        return text
