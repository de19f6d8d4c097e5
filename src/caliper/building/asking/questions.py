"""The payload of a model step's question, and the rows that it is planned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from caliper.building.candidates import Candidate
from caliper.building.captionqa.validation import FLAGS
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import fields_of

SCHEMA = 1


class ModelStep(StrEnum):
    """The steps of a build that ask a model."""

    WRITE = "write"
    BLIND = "blind"
    VALIDATE = "validate"
    DESCRIBE = "describe"
    RELATE = "relate"
    MISLEAD = "mislead"
    ANNOTATE = "annotate"
    MERGE = "merge"


TEXT_STEPS = frozenset({ModelStep.BLIND, ModelStep.MERGE})
"""The steps that show a model no medium."""

QUOTING_STEPS = frozenset({ModelStep.MERGE, ModelStep.MISLEAD})
"""The steps whose texts are what models wrote before, or read in a medium."""


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """The request of a step to a model.

    A writing model gets a `category`, in some steps with instructions in `question`, and writes
    at most `most` candidates. Others answer `question`, whose `choices` are shown as
    choices[permutation[i]]; `answer` is the text of the right one.
    """

    step: str
    category: str
    most: int = 0
    question: str = ""
    choices: tuple[str, ...] = ()
    answer: str = ""
    permutation: tuple[int, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options as shown; a validator may choose a flag instead."""
        shown = tuple(self.choices[place] for place in self.permutation)
        return (*shown, *FLAGS) if self.step == ModelStep.VALIDATE else shown


def encode(payload: StepQuestion) -> dict[str, Any]:
    """Encode a payload as a JSON object, for `decode`."""
    fields = {"schema": SCHEMA, **fields_of(payload)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
    }


def decode(document: Mapping[str, Any]) -> StepQuestion:
    """Decode a payload written by `encode`. Raises NewerSchema, or InvalidInput otherwise."""
    schema = document.get("schema")
    if not isinstance(schema, int):
        raise InvalidInput("no schema number", field="schema")
    if schema > SCHEMA:
        message = f"a question of schema {schema}; this Caliper reads up to {SCHEMA}"
        raise NewerSchema(message)
    try:
        return StepQuestion(
            step=str(ModelStep(document["step"])),
            category=str(document["category"]),
            most=int(document["most"]),
            question=str(document["question"]),
            choices=tuple(map(str, document["choices"])),
            answer=str(document["answer"]),
            permutation=tuple(map(int, document["permutation"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"not a question of a build: {error!r}") from error


def writing_row(
    image: str,
    categories: Sequence[str],
    most: int,
    step: ModelStep = ModelStep.WRITE,
    texts: Sequence[str] = (),
) -> dict[str, Any]:
    """The row that asks for candidates about a medium, category by category. `texts` are the
    instructions for each category, in steps whose prompt has them.
    """
    row = {"step": step, "image": image, "categories": categories, "most": most}
    return {**row, "texts": texts} if texts else row


def answering_row(step: ModelStep, candidate: Candidate, votes: int = 1) -> dict[str, Any]:
    """The row that asks for `votes` answers to a candidate, each in another order."""
    return {"step": step, "votes": votes, **asdict(candidate)}
