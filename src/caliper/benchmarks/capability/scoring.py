"""Reduce outcomes to sums: a cell per kind (caption, QA, KT-bar), task and repeat."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from caliper.benchmarks.base import Outcomes, Settings
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item
from caliper.core.tally import Sums, Tally

CAPTION, QA, KT = "caption", "qa", "kt"


class Cell(NamedTuple):
    """The parts of a cell's name: one of the kinds above, the task, and the repeat."""

    kind: str
    task: str
    repeat: int

    @property
    def name(self) -> str:
        """The cell's name in the tally, which `parse` parses."""
        return f"{self.kind}/{self.task}/{self.repeat}"

    @classmethod
    def parse(cls, name: str) -> Cell:
        """Parse a cell's name."""
        kind, task, repeat = name.split("/")
        return cls(kind, task, int(repeat))


class _KnownAnswer(NamedTuple):
    """A correctly answered question about the media, with the data for KT-bar."""

    task: str
    cluster: str
    joins: tuple[str, int]


def reduce(outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
    """Reduce items and their outcomes, in any order, to a tally.

    A caption and the questions about its media belong to one sample, so tallies over whole
    samples add up to the tally of all.
    """
    del settings  # They take effect when replies are read.
    tally = Tally()
    caption_scores: dict[tuple[str, int], dict[int, Fraction]] = {}
    known_answers: list[_KnownAnswer] = []
    for item, by_position in outcomes:
        for question in item.questions:
            payload = question.payload
            for repeat in range(question.repeats):
                outcome = by_position.get((question.ordinal, repeat))
                if outcome is None:
                    continue
                _count(tally, item, payload, repeat, outcome)
                if not isinstance(outcome, Scored):
                    continue
                if isinstance(payload, ElementQuestion):
                    caption_scores.setdefault((item.key, question.ordinal), {})[repeat] = (
                        outcome.score
                    )
                elif payload.joins and outcome.score == 1:
                    known_answers.append(_KnownAnswer(payload.task, item.cluster, payload.joins))
    _add_kt(tally, known_answers, caption_scores)
    return tally


def _count(
    tally: Tally,
    item: Item,
    payload: ElementQuestion | MediaQuestion,
    repeat: int,
    outcome: Outcome,
) -> None:
    kind = CAPTION if isinstance(payload, ElementQuestion) else QA
    cell = Cell(kind, payload.task, repeat).name
    if isinstance(outcome, Scored):
        tally.add(
            cell,
            item.cluster,
            scored=1,
            hit=int(outcome.score != 0),
            correct=int(outcome.score == 1),
            unscored=0,
            **_labels(outcome),
        )
    else:
        tally.add(cell, item.cluster, scored=0, hit=0, correct=0, unscored=1)


def _labels(outcome: Scored) -> Sums:
    """Return the sums of a stated category: labels listed, and whether it was the only label."""
    if not outcome.labels:
        return {}
    right = int(outcome.score == 1 and outcome.labels == 1)
    return {"listed": 1, "labels": outcome.labels, "correct_one": right}


def _add_kt(
    tally: Tally,
    known_answers: Iterable[_KnownAnswer],
    caption_scores: dict[tuple[str, int], dict[int, Fraction]],
) -> None:
    """Add KT-bar's sums: each known answer paired with the caption's score in every repeat."""
    for task, cluster, joins in known_answers:
        for repeat, score in caption_scores.get(joins, {}).items():
            cell = Cell(KT, task, repeat).name
            tally.add(cell, cluster, known=1, untold=int(score != 1))
