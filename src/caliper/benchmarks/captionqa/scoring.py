"""Score answers (paper 3.4), and reduce outcomes to sums: a cell per domain and category."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from caliper.benchmarks.base import Outcomes, Settings
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.captionqa.stability import cell_of
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item, Question, Source
from caliper.core.tally import Amount, Tally

# Kinds of cells; a cell is named "kind/domain" or "kind/domain/category".
CAPTION, IMAGE, TOP, FULL = "caption", "image", "top", "full"
RIGHT = Fraction(1)
WRONG = Fraction(0)


def credit(choices: int) -> Fraction:
    """Return the credit for "cannot answer": 1/n + 0.05 with n original choices.

    The released script rounds it to 4 decimals; Caliper keeps it exact.
    """
    return Fraction(1, choices) + Fraction(1, 20)


def score(question: ChoiceQuestion, place: int) -> Fraction:
    """Return the score of choosing the option shown at `place` (from 0)."""
    chosen = question.permutation[place]
    if chosen == question.answer:
        return RIGHT
    return credit(len(question.choices)) if chosen == len(question.choices) else WRONG


def scores(question: ChoiceQuestion) -> tuple[Fraction, ...]:
    """Return all possible scores of an answer in ascending order."""
    if not question.has_cannot:
        return WRONG, RIGHT
    return WRONG, credit(len(question.choices)), RIGHT


LABELS: tuple[str, ...] = ("correct", "cannot answer", "wrong", "unscored")


def label(outcome: Outcome) -> str:
    """Return the label of an outcome: correct, cannot answer, wrong or unscored."""
    if not isinstance(outcome, Scored):
        return "unscored"
    if outcome.score == RIGHT:
        return "correct"
    return "wrong" if outcome.score == WRONG else "cannot answer"


def reduce(outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
    """Reduce items and their outcomes to a tally.

    Repeats of a question are added up, so figures are means over repeats. Missing outcomes are
    skipped.
    """
    del settings  # No setting affects the sums.
    tally = Tally()
    for item, by_position in outcomes:
        for question in item.questions:
            for repeat in range(question.repeats):
                outcome = by_position.get((question.ordinal, repeat))
                if outcome is not None:
                    amounts = amounts_of(question.payload, outcome)
                    for cell in cells_of(item, question, repeat):
                        tally.add(cell, item.cluster, **amounts)
    return tally


def amounts_of(payload: ChoiceQuestion, outcome: Outcome) -> Mapping[str, Amount]:
    """Return the amounts that an outcome adds to its cells (names: see metrics.py)."""
    if not isinstance(outcome, Scored):
        return {"unscored": 1}
    return {
        "scored": 1,
        "points": outcome.score,
        "correct": int(outcome.score == RIGHT),
        "offered": int(payload.has_cannot),
        "cannot": int(outcome.score not in (RIGHT, WRONG)),
    }


def cells_of(item: Item, question: Question[ChoiceQuestion], repeat: int) -> Iterator[str]:
    """Yield the cells of a question: domain, top category, full category.

    A question that is asked several times also has a cell for the repeat of its domain. A
    question about the image has only a cell for its domain.
    """
    payload = question.payload
    domain = payload.domain
    if item.source is Source.MEDIA:
        yield f"{IMAGE}/{domain}"
        return
    yield f"{CAPTION}/{domain}"
    if question.repeats > 1:
        yield cell_of(domain, repeat)
    if payload.category:
        yield f"{TOP}/{domain}/{payload.category.partition(' - ')[0].strip()}"
        yield f"{FULL}/{domain}/{payload.category}"
