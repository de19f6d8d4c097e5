"""Outcomes become sums: one cell a task and repeat, of captions, of QA, and of KT-bar."""

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
    """What a cell's name tells: one of the kinds above, the task, and the repeat."""

    kind: str
    task: str
    repeat: int

    @property
    def name(self) -> str:
        """How the tally calls it; `named` reads it back."""
        return f"{self.kind}/{self.task}/{self.repeat}"

    @classmethod
    def named(cls, name: str) -> Cell:
        """The cell of that name."""
        kind, task, repeat = name.split("/")
        return cls(kind, task, int(repeat))


class _KnownAnswer(NamedTuple):
    """A question from the media that was answered right, and what KT-bar needs of it."""

    task: str
    cluster: str
    joins: tuple[str, int]


def reduce(outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
    """The tally of items with their outcomes, in any order.

    A caption and the questions from its media belong to one sample, so tallies of whole
    samples add up to the tally of all.
    """
    del settings  # They act when replies are read.
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
    """Of a category that was found: the labels listed, and whether it is the one and right."""
    if not outcome.labels:
        return {}
    right = int(outcome.score == 1 and outcome.labels == 1)
    return {"listed": 1, "labels": outcome.labels, "correct_one": right}


def _add_kt(
    tally: Tally,
    known_answers: Iterable[_KnownAnswer],
    caption_scores: dict[tuple[str, int], dict[int, Fraction]],
) -> None:
    """KT-bar's sums: what is known, beside what each repeat of the judging found told."""
    for task, cluster, joins in known_answers:
        for repeat, score in caption_scores.get(joins, {}).items():
            cell = Cell(KT, task, repeat).name
            tally.add(cell, cluster, known=1, untold=int(score != 1))
