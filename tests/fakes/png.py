"""PNG files that are made chunk by chunk: what they claim, and what they hold."""

import zlib
from struct import pack


def png_of(header: bytes, body: bytes) -> bytes:
    """A PNG with the fields of its header, and the chunks of its body."""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, rows: bytes, bits: int = 8) -> bytes:
    """A PNG in RGB that claims a size, and holds these rows."""
    header = pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)
    return png_of(header, chunk(b"IDAT", zlib.compress(rows)))
