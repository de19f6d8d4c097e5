"""The score of one answer (paper 3.4)."""

from __future__ import annotations

from fractions import Fraction

from caliper.benchmarks.captionqa.payloads import ChoiceQuestion
from caliper.core.outcome import Outcome, Scored

RIGHT = Fraction(1)
WRONG = Fraction(0)


def credit(choices: int) -> Fraction:
    """What "cannot answer" earns: 1/n + 0.05, n the number of original choices.

    The released script rounds it to 4 decimals; Caliper keeps it exact.
    """
    return Fraction(1, choices) + Fraction(1, 20)


def score(question: ChoiceQuestion, place: int) -> Fraction:
    """The score of choosing the option shown at `place` (from 0)."""
    chosen = question.permutation[place]
    if chosen == question.answer:
        return RIGHT
    return credit(len(question.choices)) if chosen == len(question.choices) else WRONG


def scores(question: ChoiceQuestion) -> tuple[Fraction, ...]:
    """Every score that an answer can have, the least first."""
    if not question.has_cannot:
        return WRONG, RIGHT
    return WRONG, credit(len(question.choices)), RIGHT


LABELS: tuple[str, ...] = ("correct", "cannot answer", "wrong", "unscored")


def label(outcome: Outcome) -> str:
    """The word for an outcome: correct, cannot answer, wrong or unscored."""
    if not isinstance(outcome, Scored):
        return "unscored"
    if outcome.score == RIGHT:
        return "correct"
    return "wrong" if outcome.score == WRONG else "cannot answer"
