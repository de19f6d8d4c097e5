"""Segmentation masks, reduced to what S-Cov needs: which instances overlap on how many pixels."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caliper.benchmarks.comprecap.questions import Atom
from caliper.deferred import deferred

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = deferred("numpy")

PIXEL_LIMIT = 1 << 25
"""The most pixels of a mask that are decompressed: four 4K frames."""
PICTURE_LIMIT = 1 << 28
"""The most pixels of all masks of a picture together: 32 masks of a 4K frame."""
MEMBER_LIMIT = 1 << 20
"""The most atoms of a picture times its masks: 52,428 atoms of 20 masks. Masks of things seen
overlap in a few dozen ways.
"""
# Pixels of all masks that are unpacked at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A mask of `size` pixels in row order, eight of them a byte of `bits`: a picture's masks
    are held together.
    """

    bits: NDArray[np.uint8]
    size: int

    def part(self, start: int, stop: int) -> NDArray[np.uint8]:
        """The pixels from `start`, a multiple of 8, to before `stop`: 1 where it covers, else 0."""
        return np.unpackbits(self.bits[start // 8 :], count=stop - start)


def decode_mask(text: str) -> Mask:
    """The mask in a text.

    `text` is base64 of a zlib stream of H*W bytes; any byte but 0 covers (released script).
    The stream is untrusted: no more than `PIXEL_LIMIT` bytes of it are decompressed.
    Raises ValueError when it cannot be decoded, is empty, cut off, or longer than that.
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
    """The masks of one image, of one size, as atoms in the order of their instances.

    Pixels that no mask covers are in no atom. Memory: the masks as they are, and what
    `MEMBER_LIMIT` lets through. Raises ValueError for masks that overlap in more ways.
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
    """Which masks cover together, one bit a mask, and on how many pixels, of the pixels
    `covered`, shape (masks, pixels).

    Masks are coherent, so pixels are first grouped into runs along which no mask changes.
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
