"""Conversion of the fields that a value and its message have in common, by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from google.protobuf.message import Message

from caliper.adapters.wire.text import from_wire, to_wire

_Message = TypeVar("_Message", bound=Message)
_Value = TypeVar("_Value")


def encode_fields(kind: type[_Message], value: Any, /, **others: Any) -> _Message:
    """A message with the fields of a dataclass: texts escaped, None unset. `others` come as they
    are, in place of some, or beside them.
    """
    names = {each.name for each in fields(value)}.intersection(kind.DESCRIPTOR.fields_by_name)
    common = {name: _escaped(getattr(value, name)) for name in names - others.keys()}
    return kind(**common, **others)


def decode_fields(kind: type[_Value], message: Message, /, **others: Any) -> _Value:
    """The dataclass with the fields of a message. One that is unset has its default; without one
    it is None. `others` as in `encode_fields`. Raises InvalidInput for a malformed text.
    """
    values = dict(others)
    for each in fields(kind):  # type: ignore[arg-type]  # a dataclass, which no type says
        field = message.DESCRIPTOR.fields_by_name.get(each.name)
        if field is None or each.name in others:
            continue
        if not field.has_presence or message.HasField(each.name):
            values[each.name] = _unescaped(getattr(message, each.name))
        elif each.default is MISSING:
            values[each.name] = None
    return kind(**values)


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return to_wire(value)
    if isinstance(value, Mapping):
        return {to_wire(name): _escaped(each) for name, each in value.items()}
    return list(map(_escaped, value)) if isinstance(value, tuple) else value


def _unescaped(value: Any) -> Any:
    if isinstance(value, str):
        return from_wire(value)
    if isinstance(value, Mapping):
        return {from_wire(name): _unescaped(each) for name, each in value.items()}
    is_list = isinstance(value, Sequence) and not isinstance(value, bytes)
    return tuple(map(_unescaped, value)) if is_list else value
