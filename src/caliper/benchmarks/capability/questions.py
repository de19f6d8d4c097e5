"""The question payloads of CAPability, and their encoding as JSON with a schema number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import fields_of


@dataclass(frozen=True, slots=True)
class ElementQuestion:
    """Whether the caption states an annotated visual element, and correctly (paper 3.3).

    `task` is one of the 13 columns. `element` is the ground truth: the annotated category,
    sentence, text or name, or, for object_number, object_color and dynamic_object_number, the
    number or colour of `object` (empty elsewhere). The judge sees it except in the category
    tasks (style, camera_angle, camera_movement).
    """

    task: str
    element: str
    object: str = ""


@dataclass(frozen=True, slots=True)
class MediaQuestion:
    """A QA question about the picture or clip itself (paper 3.4, KT-bar).

    `options` include their letters ("A. 2"); empty for an open question. `joins` is the key and
    ordinal of the caption question that KT-bar pairs it with; None without an annotation.
    `question_id` is the row index in the QA file.
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
    """Encode a payload as a JSON object, which `decode` turns back into an equal payload."""
    kind = "element" if isinstance(payload, ElementQuestion) else "media"
    return {"schema": SCHEMA, "kind": kind} | fields_of(payload)


def decode(document: Mapping[str, Any]) -> Payload:
    """Decode a payload written by `encode`.

    Raises NewerSchema for the schema of a later release, InvalidInput for anything else.
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
