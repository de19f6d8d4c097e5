"""The question payload of CaptionQA, and its encoding as JSON with a schema number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import fields_of


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A multiple-choice question; planning fixes the order of its options (paper 3.4).

    `choices` are the original ones; `answer` is the index of the right one, or -1 if the ground
    truth is bad. If `has_cannot`, the options are the choices followed by "Cannot answer from
    the caption". `permutation` orders the options: shown[i] = options[permutation[i]].
    `category` is the first full category, "Top - Sub".
    """

    domain: str
    category: str
    question: str
    choices: tuple[str, ...]
    answer: int
    has_cannot: bool
    permutation: tuple[int, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """The options in the order shown."""
        options = (*self.choices, CANNOT) if self.has_cannot else self.choices
        return tuple(options[place] for place in self.permutation)


CANNOT = "Cannot answer from the caption"


SCHEMA = 1


def encode(payload: ChoiceQuestion) -> dict[str, Any]:
    """Encode a payload as a JSON object, which `decode` turns back into an equal payload."""
    document = {"schema": SCHEMA, **fields_of(payload)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in document.items()
    }


def decode(document: Mapping[str, Any]) -> ChoiceQuestion:
    """Decode a payload written by `encode`. Raises NewerSchema, or InvalidInput otherwise."""
    schema = document.get("schema")
    if not isinstance(schema, int):
        raise InvalidInput("no schema number", field="schema")
    if schema > SCHEMA:
        raise NewerSchema(
            f"a CaptionQA question of schema {schema}; this Caliper reads up to {SCHEMA}"
        )
    try:
        return ChoiceQuestion(
            domain=str(document["domain"]),
            category=str(document["category"]),
            question=str(document["question"]),
            choices=tuple(str(choice) for choice in document["choices"]),
            answer=int(document["answer"]),
            has_cannot=bool(document["has_cannot"]),
            permutation=tuple(int(place) for place in document["permutation"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"not a CaptionQA question: {error!r}") from error
