"""The questions of CaptionQA: their payload, and this as a JSON object with a schema number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import fields_of


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A multiple-choice question, with its order of options fixed when planned (paper 3.4).

    `choices` are the original ones, `answer` the index of the right one, or -1 when the
    ground truth is bad. `has_cannot` tells that "Cannot answer from the caption" stands
    behind them. `permutation` orders the options: shown[i] = options[permutation[i]].
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
    def shown(self) -> tuple[str, ...]:
        """The options in the order in which they are asked."""
        options = (*self.choices, CANNOT) if self.has_cannot else self.choices
        return tuple(options[place] for place in self.permutation)


CANNOT = "Cannot answer from the caption"


SCHEMA = 1


def encode(payload: ChoiceQuestion) -> dict[str, Any]:
    """The payload as a JSON object; `decode` reads it back to an equal one."""
    document = {"schema": SCHEMA, **fields_of(payload)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in document.items()
    }


def decode(document: Mapping[str, Any]) -> ChoiceQuestion:
    """The payload that `encode` wrote. Raises NewerSchema, or InvalidInput for anything else."""
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
