"""A small scene graph: a dog of 4 pixels and a frisbee of 2, one of them shared, on 10 pixels."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.comprecap.planning import plan
from caliper.core.question import Item
from caliper.core.rows import Row

Mask = Callable[[Sequence[int]], str]


@pytest.fixture(scope="session")
def mask_out() -> Mask:
    def packed(pixels: Sequence[int]) -> str:
        return base64.b64encode(zlib.compress(bytes(pixels))).decode()

    return packed


@pytest.fixture
def info(mask_out: Mask) -> list[dict[str, Any]]:
    return [
        {
            "category": "dog",
            "short_description": "a brown dog",
            "extend_description": "a brown dog with a red collar",
            "mask_out": mask_out([1, 1, 1, 1, 0, 0, 0, 0, 0, 0]),
            "relation": ["The dog catches the frisbee", "The dog stands on the carpet"],
        },
        {
            "category": "frisbee",
            "short_description": "a white frisbee",
            "extend_description": "a white frisbee in the air",
            "mask_out": mask_out([0, 0, 0, 255, 255, 0, 0, 0, 0, 0]),
            "relation": [],
        },
    ]


@pytest.fixture
def row(info: list[dict[str, Any]]) -> Row:
    return Row("anno.json", 1, {"image": "park.jpg", "info": info})


@pytest.fixture
def item(row: Row) -> Item:
    return next(plan([row], PlanRequest({}, repeats=2)))
