"""The payloads as JSON objects with a schema number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.benchmarks.capability.payloads import ElementQuestion, MediaQuestion
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import fields_of

SCHEMA = 1
Payload = ElementQuestion | MediaQuestion


def encode(payload: Payload) -> dict[str, Any]:
    """A JSON object; `decode` reads it back to an equal payload."""
    kind = "element" if isinstance(payload, ElementQuestion) else "media"
    return {"schema": SCHEMA, "kind": kind} | fields_of(payload)


def decode(written: Mapping[str, Any]) -> Payload:
    """The payload that `encode` wrote.

    Raises NewerSchema for a schema of a later release, InvalidInput for anything else.
    """
    try:
        fields = dict(written)
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
