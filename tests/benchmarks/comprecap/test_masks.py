from __future__ import annotations

import base64
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from caliper.benchmarks.comprecap.masks import PIXEL_LIMIT, Mask, atoms, decode_mask
from caliper.benchmarks.comprecap.questions import Atom


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_any_byte_but_zero_covers() -> None:
    mask = decode_mask(encoded(zlib.compress(bytes([0, 1, 255, 0]))))
    assert mask.size == 4
    assert mask.part(0, 4).tolist() == [0, 1, 1, 0]


def test_white_space_in_base64_is_harmless() -> None:
    text = encoded(zlib.compress(bytes(500)))
    assert decode_mask(text[:10] + "\n" + text[10:]).size == 500


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is cut off"),
        ("no base64!", "base64 data"),
        (encoded(b"no zlib stream"), "incorrect header"),
        (encoded(zlib.compress(bytes(range(256)))[:-6]), "is cut off"),
        (encoded(zlib.compress(b"")), "has no pixels"),
    ],
    ids=["empty", "alphabet", "stream", "cut off", "no pixels"],
)
def test_a_broken_mask_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        decode_mask(text)


def test_a_decompression_bomb_stops_at_the_limit() -> None:
    packer = zlib.compressobj(1)
    pieces = [packer.compress(bytes(PIXEL_LIMIT)) for _ in range(8)]
    bomb = encoded(b"".join([*pieces, packer.flush()]))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than"):
            decode_mask(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * PIXEL_LIMIT


def drawn(pixels: Sequence[bool] | NDArray[np.bool_]) -> Mask:
    return Mask(np.packbits(np.array(pixels, dtype=bool)), len(pixels))


@given(st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=1, max_size=11))
def test_atoms_count_every_pixel_by_the_instances_over_it(rows: list[list[bool]]) -> None:
    expected = Counter(
        tuple(place for place, row in enumerate(rows) if row[pixel]) for pixel in range(12)
    )
    expected.pop((), None)
    assert atoms([drawn(row) for row in rows]) == tuple(
        Atom(key, expected[key]) for key in sorted(expected)
    )


def test_large_masks_are_counted_piece_by_piece() -> None:
    size = 3_000_001
    left, right = np.arange(size) < 2_000_000, np.arange(size) >= 1_500_001
    assert atoms([drawn(left), drawn(right), drawn(left & right)]) == (
        Atom((0,), 1_500_001),
        Atom((0, 1, 2), 499_999),
        Atom((1,), 1_000_001),
    )


def test_many_large_masks_take_little_memory() -> None:
    masks = [drawn(np.arange(1 << 20) % 7 > place % 6) for place in range(24)]
    tracemalloc.start()
    try:
        assert len(atoms(masks)) == 6
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 24


def test_masks_that_overlap_in_more_ways_than_things_do() -> None:
    size = 1 << 17
    bits = [drawn(np.arange(size) >> place & 1 == 1) for place in range(17)]
    with pytest.raises(ValueError, match="17 masks overlap in more than 61680 ways"):
        atoms(bits)
