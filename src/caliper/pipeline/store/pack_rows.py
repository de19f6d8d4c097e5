"""The form of a pack: a signature, rows sorted by key, then the data of each row, compressed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

SIGNATURE = b"caliper-pack-01\n"
_ROW = struct.Struct(">16sIII")
ROW_BYTES = _ROW.size
LAST_GENERATION = 2**32 - 1


@dataclass(frozen=True, slots=True)
class PackRow:
    """The position of a key's data in a pack."""

    key: bytes
    generation: int
    first: int
    length: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A reply in a pack: its data, compressed."""

    key: bytes
    generation: int
    data: bytes

    @classmethod
    def of(cls, key: bytes, generation: int, data: bytes) -> Frame:
        """The frame of uncompressed data."""
        return cls(key, generation, zlib.compress(data))


def encode(frames: list[Frame]) -> tuple[bytes, bytes]:
    """The rows of a pack, and all of it."""
    first = len(SIGNATURE) + _ROW.size * len(frames)
    rows = bytearray()
    for frame in frames:
        rows += _ROW.pack(frame.key, frame.generation, first, len(frame.data))
        first += len(frame.data)
    return bytes(rows), b"".join((SIGNATURE, rows, *(frame.data for frame in frames)))


def all_rows(rows: bytes) -> Iterator[PackRow]:
    """All rows in their encoded form."""
    return (PackRow(*fields) for fields in _ROW.iter_unpack(rows))


def search(rows: bytes, key: bytes) -> PackRow | None:
    """The row of a key."""
    low, high = 0, len(rows) // _ROW.size
    while low < high:
        middle = (low + high) // 2
        place = middle * _ROW.size
        row_key = rows[place : place + len(key)]
        if row_key == key:
            return PackRow(*_ROW.unpack_from(rows, place))
        low, high = (middle + 1, high) if row_key < key else (low, middle)
    return None
