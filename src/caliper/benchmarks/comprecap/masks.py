"""Segmentation masks, reduced to what S-Cov needs: which instances overlap on how many pixels."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from caliper.benchmarks.comprecap.payloads import Atom

PIXEL_LIMIT = 1 << 25
"""The most pixels of a mask that are decompressed: four 4K frames."""


def decode_mask(text: str) -> NDArray[np.uint8]:
    """The pixels of a mask in row order, shape (H*W,), 1 where it covers and 0 elsewhere.

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
    covered: NDArray[np.uint8] = (np.frombuffer(pixels, np.uint8) != 0).astype(np.uint8)
    return covered


def atoms(masks: Sequence[NDArray[np.uint8]]) -> tuple[Atom, ...]:
    """The masks of one image, shape (H*W,) each, as atoms in the order of their instances.

    Pixels that no mask covers are in no atom. Masks are coherent, so pixels are first grouped
    into runs along which no mask changes.
    """
    size = masks[0].size
    changes = np.zeros(size, dtype=bool)
    changes[0] = True
    for mask in masks:
        changes[1:] |= mask[1:] != mask[:-1]
    starts = np.flatnonzero(changes)
    lengths = np.diff(starts, append=size)
    covered = np.stack([mask[starts] for mask in masks], axis=1)
    sets, which = np.unique(covered, axis=0, return_inverse=True)
    pixels = np.zeros(len(sets), dtype=np.int64)
    np.add.at(pixels, which.reshape(-1), lengths)
    found = (
        Atom(tuple(np.flatnonzero(row).tolist()), int(count))
        for row, count in zip(sets, pixels, strict=True)
    )
    return tuple(sorted((atom for atom in found if atom.instances), key=lambda a: a.instances))
