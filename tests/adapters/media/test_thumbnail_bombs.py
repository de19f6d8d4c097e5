"""Small files of huge pictures: no thumbnail, or one that takes little memory."""

import io
import zlib
from collections.abc import Callable
from pathlib import Path
from struct import pack

import numpy as np
import pytest
from PIL import Image
from tests.fakes.memory import run_measured

from caliper.adapters.media.thumbnails import Thumbnails
from caliper.core.errors import InvalidInput

MIB = 2**20
# A service idles at 200 MiB, and the smallest has 512.
ROOM = 290 * MIB
SIDE = 13_377
FITS = 5_400

# The memory that a thumbnail takes beyond what the process had before, and its size.
_MEASURED = """
import sys
from caliper.adapters.media.thumbnails import Thumbnails

folder, name, warm = sys.argv[1:]
thumbnails = Thumbnails(Path(folder))
assert thumbnails.jpeg(warm)
before = peak()
size = len(thumbnails.jpeg(name) or b"")
print(peak() - before, size)
"""


def png(side: int, depth: int, kind: int, channels: int) -> bytes:
    """A square PNG of zeros, made without the memory that decoding it takes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))

    pressed = zlib.compressobj(9)
    row = bytes(1 + side * channels * depth // 8)
    rows = b"".join([*(pressed.compress(row) for _ in range(side)), pressed.flush()])
    header = pack(">IIBBBBB", side, side, depth, kind, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(6)) + chunk(b"tRNS", bytes(1)) if kind == 3 else b""
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette
        + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )  # fmt: skip


def red(kind: str, side: int, **options: object) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (side, side), "red").save(out, kind, **options)
    return out.getvalue()


def tiff(side: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.zeros((side, side), np.int32)).save(out, "TIFF", compression="tiff_deflate")
    return out.getvalue()


def measured(folder: Path, name: str) -> tuple[int, int]:
    """Bytes of memory that a thumbnail takes, and the bytes of the thumbnail."""
    Image.new("RGB", (64, 64)).save(folder / "warm.png")
    memory, size = map(int, run_measured(_MEASURED, str(folder), name, "warm.png"))
    return memory, size


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("rgba.png", lambda: png(SIDE, 8, 6, 4)),
        ("rgb.png", lambda: png(SIDE, 8, 2, 3)),
        ("grey.png", lambda: png(SIDE, 16, 0, 1)),
        ("progressive.jpg", lambda: red("JPEG", 7_000, progressive=True)),
        ("a.webp", lambda: red("WEBP", 4_000)),
    ],
)
def test_a_picture_beyond_the_bound_has_no_thumbnail(
    tmp_path: Path, name: str, make: Callable[[], bytes]
) -> None:
    (tmp_path / name).write_bytes(make())
    assert (tmp_path / name).stat().st_size < MIB
    with pytest.raises(InvalidInput, match=r"is more than (30|15)000000 pixels"):
        Thumbnails(tmp_path).load(name)
    assert measured(tmp_path, name) == (pytest.approx(0, abs=16 * MIB), 0)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("rgba.png", lambda: png(FITS, 8, 6, 4)),
        ("rgb.png", lambda: png(FITS, 8, 2, 3)),
        ("palette.png", lambda: png(FITS, 8, 3, 1)),
        ("grey.png", lambda: png(FITS, 16, 0, 1)),
        ("deep.tiff", lambda: tiff(FITS)),
        ("progressive.jpg", lambda: red("JPEG", FITS, progressive=True, subsampling=0)),
        ("a.webp", lambda: red("WEBP", 3_800)),
    ],
)
def test_a_picture_within_the_bound_fits_a_service(
    tmp_path: Path, name: str, make: Callable[[], bytes]
) -> None:
    (tmp_path / name).write_bytes(make())
    memory, size = measured(tmp_path, name)
    assert size
    assert memory < ROOM
