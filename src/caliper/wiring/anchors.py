"""Anchors: captions with a known verdict, from the `anchors.yaml` of each benchmark."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.adapters.packs.questions import plan_question, questions_of
from caliper.benchmarks.base import Settings
from caliper.benchmarks.registry import benchmark
from caliper.core.keys import digest
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item

_FILE = "anchors.yaml"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A caption and the one question about it that counts: the last question of `item`.

    `expected` is the label of the correct verdict.
    """

    name: str
    caption: str
    item: Item
    expected: str

    def label(self, outcome: Outcome) -> str | None:
        """The label of a verdict; None if the outcome has no score."""
        if not isinstance(outcome, Scored):
            return None
        chosen = benchmark(self.item.benchmark)
        return (chosen.anchor_label or chosen.label)(self.item.questions[-1], outcome)


def anchors_of(name: str, settings: Settings) -> tuple[Anchor, ...]:
    """The anchors of a benchmark, planned under its settings; empty if it has none."""
    return tuple(
        Anchor(
            f"{question['id']}/{expected}",
            caption,
            plan_question(name, question, settings).item,
            expected,
        )
        for question in questions_of(name, _FILE)
        for expected, caption in question["captions"].items()
    )


def digest_of(name: str) -> str:
    """The digest of a benchmark's anchor texts: 16 hexadecimal digits."""
    return digest(list(questions_of(name, _FILE)))[:16]
