"""Small files of huge pictures: no thumbnail, or one that takes little memory."""

import io
import zlib
from pathlib import Path
from struct import pack

import numpy as np
import pytest
from PIL import Image
from tests.fakes.memory import run_measured
from tests.fakes.png import chunk, png_of

from caliper.adapters.media.thumbnails import Thumbnails
from caliper.core.errors import InvalidInput

MIB = 2**20
# A service idles at 200 MiB, and the smallest has 512.
ROOM = 290 * MIB
SIDE = 13_377
FITS = 5_400
_ROWS = 100

# The most memory that thumbnails so far took beyond what the process had, and the size of each.
_MEASURED = """
import sys
from caliper.adapters.media.thumbnails import Thumbnails

folder, warm, *names = sys.argv[1:]
thumbnails = Thumbnails(Path(folder))
assert thumbnails.jpeg(warm)
before = peak()
for name in names:
    size = len(thumbnails.jpeg(name) or b"")
    print(peak() - before, size)
"""


def png(side: int, depth: int, kind: int, channels: int) -> bytes:
    """A square PNG of zeros, made without the memory that decoding it takes."""
    pressed = zlib.compressobj(9, wbits=-15)
    row = 1 + side * channels * depth // 8
    # Compressed once, for all rows are the same.
    block = pressed.compress(bytes(row * _ROWS)) + pressed.flush(zlib.Z_FULL_FLUSH)
    rows = b"\x78\xda" + block * (side // _ROWS) + pressed.compress(bytes(row * (side % _ROWS)))
    rows += pressed.flush() + pack(">HH", row * side % 65_521, 1)
    header = pack(">IIBBBBB", side, side, depth, kind, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(6)) + chunk(b"tRNS", bytes(1)) if kind == 3 else b""
    return png_of(header, palette + chunk(b"IDAT", rows))


def red(kind: str, side: int, **options: object) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (side, side), "red").save(out, kind, **options)
    return out.getvalue()


def tiff(side: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.zeros((side, side), np.int32)).save(out, "TIFF", compression="tiff_deflate")
    return out.getvalue()


def measured(folder: Path, pictures: dict[str, bytes]) -> dict[str, tuple[int, int]]:
    """By name, the most bytes of memory that the thumbnails up to it took, and its own bytes."""
    for name, picture in pictures.items():
        (folder / name).write_bytes(picture)
    Image.new("RGB", (64, 64)).save(folder / "warm.png")
    told = map(int, run_measured(_MEASURED, str(folder), "warm.png", *pictures))
    return dict(zip(pictures, zip(told, told, strict=True), strict=True))


def test_a_picture_beyond_the_bound_has_no_thumbnail(tmp_path: Path) -> None:
    pictures = {
        "rgba.png": png(SIDE, 8, 6, 4),
        "rgb.png": png(SIDE, 8, 2, 3),
        "grey.png": png(SIDE, 16, 0, 1),
        "progressive.jpg": red("JPEG", 7_000, progressive=True),
        "a.webp": red("WEBP", 4_000),
    }
    for name, (memory, size) in measured(tmp_path, pictures).items():
        assert len(pictures[name]) < MIB
        with pytest.raises(InvalidInput, match=r"is more than (30|15)000000 pixels"):
            Thumbnails(tmp_path).load(name)
        assert (memory, size) == (pytest.approx(0, abs=16 * MIB), 0), name


def test_a_picture_within_the_bound_fits_a_service(tmp_path: Path) -> None:
    pictures = {
        "rgba.png": png(FITS, 8, 6, 4),
        "rgb.png": png(FITS, 8, 2, 3),
        "palette.png": png(FITS, 8, 3, 1),
        "grey.png": png(FITS, 16, 0, 1),
        "deep.tiff": tiff(FITS),
        "progressive.jpg": red("JPEG", FITS, progressive=True, subsampling=0),
        "a.webp": red("WEBP", 3_800),
    }
    for name, (memory, size) in measured(tmp_path, pictures).items():
        assert size, name
        assert memory < ROOM, name
