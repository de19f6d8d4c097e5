from __future__ import annotations

import base64
import tracemalloc
import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.benchmarks.comprecap.masks import PIXEL_LIMIT, atoms, decode_mask
from caliper.benchmarks.comprecap.payloads import Atom


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_any_byte_but_zero_covers() -> None:
    assert decode_mask(encoded(zlib.compress(bytes([0, 1, 255, 0])))).tolist() == [0, 1, 1, 0]


def test_white_space_in_base64_is_harmless() -> None:
    text = encoded(zlib.compress(bytes(500)))
    assert decode_mask(text[:10] + "\n" + text[10:]).size == 500


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        encoded(b"no zlib stream"),
        encoded(zlib.compress(bytes(range(256)))[:-6]),
        encoded(zlib.compress(b"")),
    ],
    ids=["empty", "alphabet", "stream", "cut off", "no pixels"],
)
def test_a_broken_mask_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
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


@given(st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=1, max_size=11))
def test_atoms_count_every_pixel_by_the_instances_over_it(rows: list[list[bool]]) -> None:
    masks = [np.array(row, dtype=np.uint8) for row in rows]
    expected = Counter(
        tuple(place for place, row in enumerate(rows) if row[pixel]) for pixel in range(12)
    )
    expected.pop((), None)
    assert atoms(masks) == tuple(Atom(key, expected[key]) for key in sorted(expected))
