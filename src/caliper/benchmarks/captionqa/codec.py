"""The payload on the wire and in the store: a JSON object with its schema number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.benchmarks.captionqa.payloads import ChoiceQuestion
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import fields_of

SCHEMA = 1


def encode(payload: ChoiceQuestion) -> dict[str, Any]:
    """The payload as a JSON object; `decode` reads it back to an equal one."""
    written = {"schema": SCHEMA, **fields_of(payload)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in written.items()
    }


def decode(written: Mapping[str, Any]) -> ChoiceQuestion:
    """The payload that `encode` wrote. Raises NewerSchema, or InvalidInput for anything else."""
    schema = written.get("schema")
    if not isinstance(schema, int):
        raise InvalidInput("no schema number", field="schema")
    if schema > SCHEMA:
        raise NewerSchema(
            f"a CaptionQA question of schema {schema}; this Caliper reads up to {SCHEMA}"
        )
    try:
        return ChoiceQuestion(
            domain=str(written["domain"]),
            category=str(written["category"]),
            question=str(written["question"]),
            choices=tuple(str(choice) for choice in written["choices"]),
            answer=int(written["answer"]),
            has_cannot=bool(written["has_cannot"]),
            permutation=tuple(int(place) for place in written["permutation"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"not a CaptionQA question: {error!r}") from error
