"""The anchors: captions whose verdict is known, as `anchors.yaml` freezes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from caliper.benchmarks.base import Settings
from caliper.benchmarks.registry import benchmark
from caliper.core.keys import digest
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item
from caliper.pipeline.written import written_item

_BANDS = ("none", "none", "part", "part", "full", "full")
"""The words for a CompreCap judge's 0 to 5: a point more or less is no other verdict."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A caption and the one question about it that counts: the last of `item`.

    `expected` is the word for the verdict that the caption deserves.
    """

    name: str
    caption: str
    item: Item
    expected: str

    def given(self, outcome: Outcome) -> str | None:
        """The word for a verdict; None where there is none."""
        if not isinstance(outcome, Scored):
            return None
        if self.item.benchmark != "comprecap":
            return benchmark(self.item.benchmark).label(self.item.questions[-1], outcome)
        # Scores as `reading: released` takes them may be any number.
        return _BANDS[min(max(int(outcome.score), 0), len(_BANDS) - 1)]


def anchors_of(name: str, settings: Settings) -> tuple[Anchor, ...]:
    """The anchors of a benchmark, planned under its settings."""
    return tuple(
        Anchor(
            f"{question['id']}/{expected}",
            caption,
            written_item(name, question, settings),
            expected,
        )
        for question in _written()[name]
        for expected, caption in question["captions"].items()
    )


def digest_of(name: str) -> str:
    """Names the texts of a benchmark's anchors: 16 hexadecimal digits."""
    return digest(_written()[name])[:16]


@cache
def _written() -> Mapping[str, Any]:
    text = (files(__package__) / "anchors.yaml").read_text("utf-8")
    written: Mapping[str, Any] = yaml.safe_load(text)
    return written
