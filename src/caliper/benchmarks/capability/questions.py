"""The questions of CAPability: their payloads, and these as JSON objects with a schema number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import fields_of


@dataclass(frozen=True, slots=True)
class ElementQuestion:
    """Does the caption state one annotated visual element, and rightly? (paper 3.3)

    `task` is one of the 13 columns. `element` is what the judge compares with: the
    annotated category, sentence, text or name, or, for object_number, object_color and
    dynamic_object_number, the number or colour of `object` (empty elsewhere).
    For the category tasks (style, camera_angle, camera_movement) `element` is the ground
    truth that the judge does not see.
    """

    task: str
    element: str
    object: str = ""


@dataclass(frozen=True, slots=True)
class MediaQuestion:
    """A question of the QA form, asked on the picture or clip itself (paper 3.4, KT-bar).

    `options` carry their letters ("A. 2"); none for an open question. `joins` names the
    caption item and ordinal whose outcome KT-bar sets against this one's, None when no
    annotation belongs to the question. `question_id` is the row index of the QA file.
    """

    task: str
    question: str
    options: tuple[str, ...]
    answer: str
    joins: tuple[str, int] | None
    question_id: str = ""


SCHEMA = 1
Payload = ElementQuestion | MediaQuestion


def encode(payload: Payload) -> dict[str, Any]:
    """A JSON object; `decode` reads it back to an equal payload."""
    kind = "element" if isinstance(payload, ElementQuestion) else "media"
    return {"schema": SCHEMA, "kind": kind} | fields_of(payload)


def decode(document: Mapping[str, Any]) -> Payload:
    """The payload that `encode` wrote.

    Raises NewerSchema for a schema of a later release, InvalidInput for anything else.
    """
    try:
        fields = dict(document)
        schema, kind = fields.pop("schema"), fields.pop("kind")
        if int(schema) > SCHEMA:
            raise NewerSchema(f"schema {schema} is newer than {SCHEMA}", field="schema")
        if kind == "element":
            return ElementQuestion(**fields)
        if kind == "media":
            joins = fields["joins"]
            fields |= {
                "options": tuple(fields["options"]),
                "joins": (str(joins[0]), int(joins[1])) if joins else None,
            }
            return MediaQuestion(**fields)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidInput(f"not a question of CAPability: {error!r}") from error
    raise InvalidInput(f"unknown kind {kind!r}", field="kind")
