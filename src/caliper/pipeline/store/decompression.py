"""Unpacks compressed objects of a store, within bounds: few bytes can unpack to gigabytes."""

from __future__ import annotations

import zlib

MOST_UNPACKED = 64 << 20
"""The most bytes that an object may unpack to, unless it has as many; ours unpack to a few MB."""
_GZIP, _ZLIB = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS


def gunzip(data: bytes, most: int = MOST_UNPACKED) -> bytes:
    """The bytes of a gzip file. Raises ValueError if it is broken, or has more than `most`."""
    return _unpack(data, _GZIP, most)


def inflate(data: bytes | memoryview, most: int = MOST_UNPACKED) -> bytes:
    """The bytes of a zlib stream. Raises ValueError if it is broken, or has more than `most`."""
    return _unpack(data, _ZLIB, most)


def _unpack(data: bytes | memoryview, form: int, most: int) -> bytes:
    stream, most = zlib.decompressobj(form), max(most, len(data))
    try:
        unpacked = stream.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(unpacked) > most:
        raise ValueError(f"it unpacks to more than {most} bytes")
    if not stream.eof or stream.unused_data:
        raise ValueError("it is truncated, or has data after its end")
    return unpacked
