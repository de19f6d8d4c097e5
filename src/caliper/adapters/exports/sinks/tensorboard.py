"""Event files of TensorBoard: every figure at the checkpoint's training step.

An event file is a sequence of records: the length of a message and the message, each with a masked
CRC-32C. The messages are `Event` of TensorFlow's event.proto, of which scalars need few fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from caliper.adapters.files import store_error, write_atomically
from caliper.adapters.phrases import state
from caliper.core.errors import InvalidInput, NotReady
from caliper.ports.sinks import Results

_PREFIX = "events.out.tfevents"


@dataclass(frozen=True, slots=True)
class TensorboardSink:
    """ports.sinks.Sink for a log directory: all runs that go there are one line over their steps.

    A file per run, but none of partial ones: a line could not mark them. TensorBoard reads them
    in the order of their names, which is that of the steps.
    """

    folder: str

    def __post_init__(self) -> None:
        if not self.folder:
            raise InvalidInput("name a log directory: tensorboard:DIR")

    def write(self, results: Results) -> str:
        if results.step is None:
            raise InvalidInput("the training step is unknown", field="--step")
        if results.report.partial:
            raise NotReady(f"TensorBoard's lines take complete runs only. {state(results.report)}")
        folder = Path(self.folder)
        path = folder / f"{_PREFIX}.{results.step:018d}.{results.run}"
        time = datetime.fromisoformat(results.ended).timestamp() if results.ended else 0.0
        records = map(_record, (_version(time), _scalars(time, results.step, results)))
        write_atomically(path, b"".join(records))
        try:
            for other in folder.glob(f"{_PREFIX}.*.{results.run}"):
                if other != path:  # It was exported with another step before.
                    other.unlink(missing_ok=True)
        except OSError as error:
            raise store_error(folder, error) from error
        return str(path)


def _version(time: float) -> bytes:
    return _fixed(1, "d", time) + _bytes(3, b"brain.Event:2")


def _scalars(time: float, step: int, results: Results) -> bytes:
    return _fixed(1, "d", time) + _tag(2, 0) + _varint(step) + _bytes(5, _summary(results))


def _summary(results: Results) -> bytes:
    return b"".join(_bytes(1, value) for value in _values(results))


def _values(results: Results) -> Iterator[bytes]:
    for figure in results.figures:
        name = f"{figure.benchmark}/{figure.path}".encode()
        yield _bytes(1, name) + _fixed(2, "f", figure.value)


def _tag(field: int, kind: int) -> bytes:
    return bytes([field << 3 | kind])


def _bytes(field: int, data: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(data)) + data


def _fixed(field: int, kind: str, value: float) -> bytes:
    return _tag(field, 1 if kind == "d" else 5) + struct.pack(f"<{kind}", value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _checksum(length) + data + _checksum(data)


def _checksum(data: bytes) -> bytes:
    crc, table = 0xFFFFFFFF, _table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


@cache
def _table() -> tuple[int, ...]:
    """CRC-32C by byte. The library for it comes with Kafka's, and here it is a few kilobytes."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return tuple(table)
