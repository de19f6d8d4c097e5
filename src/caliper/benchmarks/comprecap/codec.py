"""Payloads as JSON objects, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from caliper.benchmarks.comprecap.payloads import Atom, MediaQuestion, PhraseQuestion, SceneMeasure
from caliper.core.errors import InvalidInput, NewerSchema

SCHEMA = 1
Payload = SceneMeasure | PhraseQuestion | MediaQuestion
_TYPES: dict[str, Callable[..., Payload]] = {
    "objects": SceneMeasure,
    "phrase": PhraseQuestion,
    "compreqa": MediaQuestion,
}


def encode(payload: Payload) -> dict[str, Any]:
    """The payload as a JSON object with its schema number and type."""
    name = next(name for name, kind in _TYPES.items() if type(payload) is kind)
    return {"schema": SCHEMA, "type": name} | asdict(payload)


def decode(written: Mapping[str, Any]) -> Payload:
    """The payload that `encode` wrote.

    Raises NewerSchema for what a later release wrote, InvalidInput for anything else.
    """
    fields = dict(written)
    schema = fields.pop("schema", None)
    if isinstance(schema, int) and schema > SCHEMA:
        raise NewerSchema(f"this question has schema {schema}; this release reads {SCHEMA}")
    name = str(fields.pop("type", None))
    if schema != SCHEMA or name not in _TYPES:
        raise InvalidInput("this is no question of CompreCap")
    try:
        if "atoms" in fields:
            fields["atoms"] = [
                Atom(tuple(atom["instances"]), atom["pixels"]) for atom in fields["atoms"]
            ]
        lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
        return _TYPES[name](**fields | lists)
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"this question of CompreCap is broken: {error}") from error
