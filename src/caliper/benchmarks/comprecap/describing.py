"""Questions and outcomes in people's words."""

from __future__ import annotations

from fractions import Fraction

from caliper.benchmarks.base import Described
from caliper.benchmarks.comprecap.codec import Payload
from caliper.benchmarks.comprecap.payloads import MediaQuestion, SceneMeasure
from caliper.benchmarks.comprecap.scoring import HIGHEST
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item, Question


def describe(item: Item, question: Question[Payload]) -> Described:
    """The question as people read it: its dimension, its text, the expected answer."""
    del item
    payload = question.payload
    if isinstance(payload, SceneMeasure):
        text = "Which of the annotated categories does the caption mention?"
        return Described("objects", text, ", ".join(payload.categories))
    if isinstance(payload, MediaQuestion):
        return Described(f"compreqa_{payload.kind}", payload.question, payload.answer)
    text = f"What does the caption say of {', '.join(payload.mentions)}?"
    if not payload.mentions:
        text = "The relation is compared with no sentence."
    return Described(payload.kind, text, payload.phrase)


def scores(payload: Payload) -> tuple[Fraction, ...]:
    """Every score that a judge or a person may give."""
    if isinstance(payload, SceneMeasure):
        return ()
    most = 1 if isinstance(payload, MediaQuestion) else HIGHEST
    return tuple(map(Fraction, range(most + 1)))


LABELS = (
    *(f"{score} of {HIGHEST}" for score in range(HIGHEST + 1)),
    *("mentioned", "not mentioned", "correct", "wrong", "unscored"),
)


def label(question: Question[Payload], outcome: Outcome) -> str:
    """The word for an outcome."""
    payload = question.payload
    if not isinstance(outcome, Scored):
        return "unscored"
    if isinstance(payload, MediaQuestion):
        return "correct" if outcome.score else "wrong"
    if isinstance(payload, SceneMeasure):
        return "mentioned" if outcome.score else "not mentioned"
    return f"{outcome.score} of {HIGHEST}" if outcome.mentioned else "not mentioned"
