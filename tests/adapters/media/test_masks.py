"""Masks from run lengths, polygons and CompreCap's encoding, and their outlines."""

import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from caliper.adapters.media.masks import box, encode_mask, outline, read_mask

RINGED = np.zeros((40, 30), np.uint8)
RINGED[5:30, 8:20] = 1
RINGED[10:15, 10:14] = 0
RINGED[33, 2] = 1
SMALL = np.array(
    [
        [0, 1, 1, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 1, 0, 1, 0, 0],
        [1, 0, 1, 1, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1, 1, 0, 0, 1],
        [0, 0, 0, 1, 0, 1, 0, 1, 1],
        [0, 1, 0, 1, 0, 0, 1, 0, 1],
        [1, 1, 0, 0, 1, 1, 0, 1, 1],
        [0, 1, 0, 1, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, 1, 0, 0],
        [0, 0, 1, 0, 0, 1, 0, 0, 0],
    ],
    np.uint8,
)


@pytest.mark.parametrize(
    ("counts", "mask"),
    [
        # As pycocotools 2.0 encodes these masks.
        (r"a31c6h0lI00\OF::FF::FF::FF:::0000000000[<", RINGED),
        ("213020O20030JN010O40L01061I02ON020N01010N00010330", SMALL),
    ],
)
def test_compressed_run_lengths(counts: str, mask: np.ndarray) -> None:
    height, width = mask.shape
    given = {"segmentation": {"size": [height, width], "counts": counts}}
    assert (read_mask(given, (width, height)) == mask).all()


@given(arrays.arrays(np.uint8, st.tuples(*[st.integers(1, 12)] * 2), elements=st.integers(0, 1)))
def test_run_lengths_and_the_encoding_of_comprecap(mask: np.ndarray) -> None:
    height, width = mask.shape
    flat = [0, *mask.T.reshape(-1).tolist()]
    starts = [place for place in range(1, len(flat)) if flat[place] != flat[place - 1]]
    ends = [1, *starts, len(flat)]
    counts = [after - before for before, after in itertools.pairwise(ends)]
    runs = {"segmentation": {"size": [height, width], "counts": counts}}
    for one in (runs, {"mask_out": encode_mask(mask)}):
        assert (read_mask(one, (width, height)) == mask).all()


def test_polygons_cover_what_any_of_them_covers() -> None:
    square = [2, 3, 6, 3, 6, 8, 2, 8]
    mask = read_mask({"segmentation": [square, [10, 10, 11, 10, 11, 11, 10, 11]]}, (20, 16))
    assert mask.shape == (16, 20)
    assert mask[3:9, 2:7].all()
    assert mask.sum() == 30 + 4
    assert box(mask) == (10, 19, 60, 75)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "expected segmentation or mask_out"),
        ({"segmentation": [[1, 2, 3, 4]]}, "polygons of three points and more"),
        ({"segmentation": [[1, 2, 3, 4, 5, 1e9]]}, "expected a coordinate, found 1000000000"),
        ({"segmentation": [[0, 0] * 100_001]}, "more than 100,000 points"),
        ({"segmentation": {"size": [30, 40], "counts": [1200]}}, "the size [40, 30]"),
        ({"segmentation": {"size": [40, 30], "counts": [1199]}}, "not those of a picture"),
        ({"segmentation": {"size": [40, 30], "counts": [-1, 1201]}}, "not those of a picture"),
        ({"segmentation": {"size": [40, 30], "counts": "a\x00"}}, "run lengths are broken"),
        ({"segmentation": {"size": [40, 30], "counts": "o" * 99}}, "run lengths are broken"),
        ({"mask_out": encode_mask(SMALL)}, "has 108 pixels, the picture 30 x 40"),
        ({"mask_out": "?"}, "base64"),
    ],
)
def test_broken_masks(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        read_mask(given, (30, 40))


def test_an_outline_lies_around_an_object_and_marks_nothing_else() -> None:
    mask = np.zeros((60, 80), np.uint8)
    mask[10:50, 20:60] = 1
    drawn = np.asarray(outline(Image.new("RGB", (80, 60), "gray"), [mask]))
    assert tuple(drawn[9, 20]) == tuple(drawn[51, 61]) == (255, 60, 0)
    assert tuple(drawn[7, 20]) == (255, 255, 255)
    for untouched in (drawn[10, 20], drawn[49, 59], drawn[30, 16], drawn[5, 5]):
        assert tuple(untouched) == (128, 128, 128)
