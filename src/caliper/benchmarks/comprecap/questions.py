"""The question payloads of CompreCap, their encoding as JSON, and their readable form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import QuestionText
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item, Question


@dataclass(frozen=True, slots=True)
class Atom:
    """The number of pixels covered by exactly the same instances, given as indices in `info`."""

    instances: tuple[int, ...]
    pixels: int


@dataclass(frozen=True, slots=True)
class SceneMeasure:
    """The `objects` measure of an image: inputs of S_object and S-Cov (paper 3.3).

    `categories` are the image's distinct categories in annotation order; `instances` holds the
    category of each instance; `atoms` are the overlaps of the masks; `pixels` is the image's area.
    """

    categories: tuple[str, ...]
    instances: tuple[str, ...]
    atoms: tuple[Atom, ...]
    pixels: int


@dataclass(frozen=True, slots=True)
class PhraseQuestion:
    """How much of a phrase the pieces of a caption contain, 0 to 5 (paper Fig. 3).

    `kind` is attribute (of one instance) or relation; `number` counts within the kind.
    A piece of the caption is used if it mentions any of the annotated categories `mentions`,
    which is empty if the released pairing leaves a relation without a sentence.
    """

    kind: str
    number: int
    phrase: str
    mentions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompreQaQuestion:
    """A CompreQA question about the image itself, of kind `p` (presence) or `cap`.

    `question` includes the options; `answer` is the letter of the right one.
    """

    kind: str
    category: str
    question: str
    answer: str


HIGHEST = 5
"""The highest score of a phrase (paper Fig. 3)."""
SCHEMA = 1
Payload = SceneMeasure | PhraseQuestion | CompreQaQuestion
_TYPES: dict[str, Callable[..., Payload]] = {
    "objects": SceneMeasure,
    "phrase": PhraseQuestion,
    "compreqa": CompreQaQuestion,
}


def encode(payload: Payload) -> dict[str, Any]:
    """Encode a payload as a JSON object with its schema number and type."""
    name = next(name for name, kind in _TYPES.items() if type(payload) is kind)
    return {"schema": SCHEMA, "type": name} | asdict(payload)


def decode(document: Mapping[str, Any]) -> Payload:
    """Decode a payload written by `encode`.

    Raises NewerSchema for the schema of a later release, InvalidInput for anything else.
    """
    fields = dict(document)
    schema = fields.pop("schema", None)
    if isinstance(schema, int) and schema > SCHEMA:
        raise NewerSchema(f"this question has schema {schema}; this release reads {SCHEMA}")
    name = str(fields.pop("type", None))
    if schema != SCHEMA or name not in _TYPES:
        raise InvalidInput("not a question of CompreCap")
    try:
        if "atoms" in fields:
            fields["atoms"] = [
                Atom(tuple(atom["instances"]), atom["pixels"]) for atom in fields["atoms"]
            ]
        lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
        return _TYPES[name](**fields | lists)
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"this question of CompreCap is broken: {error}") from error


def describe(item: Item, question: Question[Payload]) -> QuestionText:
    """Return the question in readable form: its dimension, text, and expected answer."""
    del item
    payload = question.payload
    if isinstance(payload, SceneMeasure):
        text = "Which of the annotated categories does the caption mention?"
        return QuestionText("objects", text, ", ".join(payload.categories))
    if isinstance(payload, CompreQaQuestion):
        return QuestionText(f"compreqa_{payload.kind}", payload.question, payload.answer)
    text = f"What does the caption say of {', '.join(payload.mentions)}?"
    if not payload.mentions:
        text = "The relation is compared with no sentence."
    return QuestionText(payload.kind, text, payload.phrase)


def scores(payload: Payload) -> tuple[Fraction, ...]:
    """Return all scores that a judge or a person may give."""
    if isinstance(payload, SceneMeasure):
        return ()
    most = 1 if isinstance(payload, CompreQaQuestion) else HIGHEST
    return tuple(map(Fraction, range(most + 1)))


LABELS = (
    *(f"{score} of {HIGHEST}" for score in range(HIGHEST + 1)),
    *("mentioned", "not mentioned", "correct", "wrong", "unscored"),
)


def label(question: Question[Payload], outcome: Outcome) -> str:
    """Return the label of an outcome."""
    payload = question.payload
    if not isinstance(outcome, Scored):
        return "unscored"
    if isinstance(payload, CompreQaQuestion):
        return "correct" if outcome.score else "wrong"
    if isinstance(payload, SceneMeasure):
        return "mentioned" if outcome.score else "not mentioned"
    return f"{outcome.score} of {HIGHEST}" if outcome.mentioned else "not mentioned"
