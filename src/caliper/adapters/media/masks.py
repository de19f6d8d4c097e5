"""Masks of objects: read from polygons, run lengths or CompreCap's encoding, and outlined."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from caliper.benchmarks.comprecap.masks import PIXEL_LIMIT, decode_mask

Pixels = NDArray[np.uint8]
"""Height x width: 1 where the object is, else 0."""
_MOST_POINTS = 100_000
_FARTHEST = 1_000_000
_BITS, _MORE, _SIGN = 0x1F, 0x20, 0x10
"""Bit masks of a character of compressed run lengths: value, more to follow, sign."""
_COLOURS = ((255, 60, 0), (0, 110, 255))
"""The colours of the first object's outline, and of the others'."""


def read_mask(mask: Mapping[str, Any], size: tuple[int, int]) -> Pixels:
    """The mask of an object in a picture of `size` (width, height).

    `segmentation` holds polygons or run lengths as in COCO's files, `mask_out` CompreCap's
    encoding. Raises ValueError for a mask that is broken or of another size.
    """
    width, height = size
    if width * height > PIXEL_LIMIT:
        raise ValueError(f"the picture has more than {PIXEL_LIMIT:,} pixels")
    segmentation = mask.get("segmentation")
    if isinstance(segmentation, Mapping):
        return _from_runs(segmentation, size)
    if isinstance(segmentation, Sequence) and not isinstance(segmentation, str):
        return _from_polygons(segmentation, size)
    if not isinstance(mask.get("mask_out"), str):
        raise ValueError("expected segmentation or mask_out")  # noqa: TRY004 - as any broken mask
    return decode_pixels(mask["mask_out"], size)


def decode_pixels(text: str, size: tuple[int, int]) -> Pixels:
    """The mask in CompreCap's encoding. Raises ValueError."""
    width, height = size
    mask = decode_mask(text)
    if mask.size != width * height:
        message = f"the mask has {mask.size:,} pixels, the picture {width} x {height}"
        raise ValueError(message)
    return mask.part(0, mask.size).reshape(height, width)


def encode_mask(mask: Pixels) -> str:
    """The mask in CompreCap's encoding."""
    return base64.b64encode(zlib.compress(mask.tobytes())).decode()


def box(mask: Pixels) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a mask that covers something, in percent of the picture."""
    height, width = mask.shape
    columns, rows = (np.flatnonzero(mask.any(axis=axis)) for axis in (0, 1))
    ends = (
        (columns[0], width),
        (rows[0], height),
        (columns[-1] + 1, width),
        (rows[-1] + 1, height),
    )
    left, top, right, bottom = (round(100 * int(end) / whole) for end, whole in ends)
    return left, top, right, bottom


def outline(picture: Image.Image, masks: Sequence[Pixels]) -> Image.Image:
    """The picture with lines around masks, which hide nothing of them, the first in a colour of its
    own.
    """
    pixels = np.array(picture)
    thick = max(2, max(picture.size) // 400)
    # The first lies above the others.
    for place, mask in reversed(list(enumerate(masks))):
        image = Image.fromarray(mask).resize(picture.size, Image.Resampling.NEAREST)
        outside = ~np.asarray(image).astype(bool)
        edge = outside & ~_shrunk(outside, thick)
        halo = _shrunk(outside, thick) & ~_shrunk(outside, thick + 1)
        pixels[halo] = 255
        pixels[edge] = _COLOURS[min(place, len(_COLOURS) - 1)]
    return Image.fromarray(pixels)


def _shrunk(inside: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """The pixels from which the edge is farther than `by`; the picture's border is no edge."""
    padded = np.pad(inside, by, mode="edge")
    height, width = inside.shape
    across = inside.copy()
    for shift in range(2 * by + 1):
        across &= padded[by : by + height, shift : shift + width]
    padded = np.pad(across, by, mode="edge")
    both = across.copy()
    for shift in range(2 * by + 1):
        both &= padded[shift : shift + height, by : by + width]
    return both


def _from_polygons(polygons: Sequence[Any], size: tuple[int, int]) -> Pixels:
    """Pixels inside of any polygon. Along edges they may differ by one from pycocotools'."""
    image = Image.new("L", size, 0)
    draw = ImageDraw.Draw(image)
    points = 0
    for polygon in polygons:
        if not isinstance(polygon, Sequence) or len(polygon) < 6 or len(polygon) % 2:
            raise ValueError("expected polygons of three points and more: [x, y, x, y, ...]")
        points += len(polygon) // 2
        if points > _MOST_POINTS:
            raise ValueError(f"more than {_MOST_POINTS:,} points")
        numbers = list(map(_coordinate, polygon))
        draw.polygon(list(zip(numbers[::2], numbers[1::2], strict=True)), fill=1)
    return np.asarray(image, np.uint8)


def _coordinate(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not -_FARTHEST < value < _FARTHEST:
        raise ValueError(f"expected a coordinate, found {value!r:.60}")
    return float(value)


def _from_runs(segmentation: Mapping[str, Any], size: tuple[int, int]) -> Pixels:
    """Run lengths, column by column, first of what is outside; compressed if they are text."""
    width, height = size
    if segmentation.get("size") != [height, width]:
        actual = f"{segmentation.get('size')!r:.60}"
        raise ValueError(f"expected the size [{height}, {width}] of the picture, found {actual}")
    counts = segmentation.get("counts")
    if isinstance(counts, str):
        counts = _decompressed(counts, 2 * width * height)
    whole = isinstance(counts, Sequence) and all(
        isinstance(run, int) and 0 <= run <= width * height for run in counts
    )
    if not whole or sum(counts) != width * height:  # type: ignore[arg-type]
        raise ValueError("the run lengths are not those of a picture of this size")
    runs = np.asarray(counts, np.int64)
    values = np.arange(len(runs), dtype=np.uint8) % 2
    return np.ascontiguousarray(np.repeat(values, runs).reshape(width, height).T)


def _decompressed(text: str, most: int) -> list[int]:
    """Run lengths from COCO's compressed form: six bits per character, and from the third run on
    the difference to the run two before.
    """
    runs: list[int] = []
    value = shift = 0
    for character in text[:most]:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 60:
            raise ValueError("the compressed run lengths are broken")
        value |= (bits & _BITS) << shift
        shift += 5
        if bits & _MORE:
            continue
        if bits & _SIGN:
            value -= 1 << shift
        runs.append(value + runs[-2] if len(runs) > 2 else value)
        value = shift = 0
    return runs
