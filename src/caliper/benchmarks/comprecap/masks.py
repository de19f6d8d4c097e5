"""Decode segmentation masks and reduce them for S-Cov: pixels per set of overlapping instances."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caliper.benchmarks.comprecap.questions import Atom
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")

PIXEL_LIMIT = 1 << 25
"""Maximum pixels decompressed per mask: four 4K frames."""
PICTURE_LIMIT = 1 << 28
"""Maximum pixels of all masks of a picture together: 32 masks of a 4K frame."""
MEMBER_LIMIT = 1 << 20
"""Maximum product of a picture's atoms and masks: 52,428 atoms of 20 masks.

Masks of real objects overlap in a few dozen ways.
"""
# Pixels of all masks unpacked at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A mask of `size` pixels in row order, packed eight per byte in `bits`.

    Packing saves memory, since all masks of a picture are held at once.
    """

    bits: NDArray[np.uint8]
    size: int

    def part(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Unpack the pixels [`start`, `stop`), 1 if covered, else 0; `start` is a multiple of 8."""
        return np.unpackbits(self.bits[start // 8 :], count=stop - start)


def decode_mask(text: str) -> Mask:
    """Decode a mask from text.

    `text` is base64 of a zlib stream of H*W bytes; every non-zero byte is covered (released
    script). The stream is untrusted: at most `PIXEL_LIMIT` bytes are accepted. Raises ValueError
    if it cannot be decoded, is empty, truncated, or longer than that.
    """
    packed = base64.b64decode("".join(text.split()), validate=True)
    stream = zlib.decompressobj()
    try:
        pixels = stream.decompress(packed, PIXEL_LIMIT + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(pixels) > PIXEL_LIMIT:
        raise ValueError(f"the mask has more than {PIXEL_LIMIT} pixels")
    if not stream.eof:
        raise ValueError("the compressed mask is cut off")
    if not pixels:
        raise ValueError("the mask has no pixels")
    return Mask(np.packbits(np.frombuffer(pixels, np.uint8) != 0), len(pixels))


def atoms(masks: Sequence[Mask]) -> tuple[Atom, ...]:
    """Reduce the equal-sized masks of an image to atoms, sorted by their instances.

    Pixels not covered by any mask belong to no atom. `MEMBER_LIMIT` bounds the memory used beyond
    the packed masks. Raises ValueError for masks that overlap in more ways.
    """
    pixels: Counter[bytes] = Counter()
    step = max(8, _AT_ONCE // len(masks) // 8 * 8)
    for start in range(0, masks[0].size, step):
        stop = min(start + step, masks[0].size)
        for instances, count in _sets(np.stack([mask.part(start, stop) for mask in masks])):
            pixels[instances] += count
        if len(pixels) * len(masks) > MEMBER_LIMIT:
            most = MEMBER_LIMIT // len(masks)
            raise ValueError(f"the {len(masks)} masks overlap in more than {most} ways")
    groups = (Atom(_places(key), count) for key, count in pixels.items())
    return tuple(sorted((atom for atom in groups if atom.instances), key=lambda a: a.instances))


def _sets(covered: NDArray[np.uint8]) -> Iterator[tuple[bytes, int]]:
    """Yield each set of masks that cover a pixel together, one bit per mask, and its pixel count.

    `covered` has shape (masks, pixels). Masks are coherent, so pixels are first grouped into runs
    along which no mask changes.
    """
    changes = np.ones(covered.shape[1], dtype=bool)
    changes[1:] = (covered[:, 1:] != covered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(changes)
    lengths = np.diff(starts, append=covered.shape[1])
    sets, which = np.unique(np.packbits(covered[:, starts], axis=0).T, axis=0, return_inverse=True)
    pixels = np.zeros(len(sets), dtype=np.int64)
    np.add.at(pixels, which.reshape(-1), lengths)
    for row, count in zip(sets, pixels, strict=True):
        yield row.tobytes(), int(count)


def _places(key: bytes) -> tuple[int, ...]:
    return tuple(np.flatnonzero(np.unpackbits(np.frombuffer(key, np.uint8))).tolist())
