# ruff: noqa: INP001 - a module of the scripts beside the package
"""What a change of the protos breaks for those who speak the contract as it was.

Messages, enums, services and their parts may be added. Whatever was there keeps its name, number,
type and place: old bytes stay readable, and old callers stay served.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class _Named:
    """Everything in a set of descriptors, by its full name."""

    files: set[str] = field(default_factory=set)
    messages: dict[str, DescriptorProto] = field(default_factory=dict)
    enums: dict[str, EnumDescriptorProto] = field(default_factory=dict)
    services: dict[str, ServiceDescriptorProto] = field(default_factory=dict)

    @classmethod
    def of(cls, descriptors: FileDescriptorSet) -> _Named:
        named = cls()
        for file in descriptors.file:
            named.files.add(file.name)
            named._add(file.package, file.message_type, file.enum_type)
            named.services.update({f"{file.package}.{one.name}": one for one in file.service})
        return named

    def _add(
        self,
        place: str,
        messages: Iterable[DescriptorProto],
        enums: Iterable[EnumDescriptorProto],
    ) -> None:
        self.enums.update({f"{place}.{enum.name}": enum for enum in enums})
        for message in messages:
            name = f"{place}.{message.name}"
            self.messages[name] = message
            self._add(name, message.nested_type, message.enum_type)


def breaks(old: FileDescriptorSet, new: FileDescriptorSet) -> list[str]:
    """One sentence a break, naming what is gone or has changed; empty when nothing breaks."""
    before, after = _Named.of(old), _Named.of(new)
    return [
        *(f"file {name} is gone" for name in sorted(before.files - after.files)),
        *_gone("message", before.messages, after.messages),
        *_gone("enum", before.enums, after.enums),
        *_gone("service", before.services, after.services),
        *(text for kept in _kept(before.messages, after.messages) for text in _fields(*kept)),
        *(text for kept in _kept(before.enums, after.enums) for text in _values(*kept)),
        *(text for kept in _kept(before.services, after.services) for text in _methods(*kept)),
    ]


def _gone(kind: str, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(before.keys() - after.keys()):
        yield f"{kind} {name} is gone"


def _kept(
    before: Mapping[str, Part], after: Mapping[str, Part]
) -> Iterator[tuple[str, Part, Part]]:
    for name in sorted(before.keys() & after.keys()):
        yield name, before[name], after[name]


def _fields(message: str, before: DescriptorProto, after: DescriptorProto) -> Iterator[str]:
    found = {one.number: _shape(one, after) for one in after.field}
    for one in before.field:
        place = f"field {message}.{one.name} = {one.number}"
        if one.number not in found:
            yield f"{place} is gone"
            continue
        for part, was in _shape(one, before).items():
            now = found[one.number][part]
            if was != now:
                yield f"{place}: its {part} was {was}, now {now}"


def _shape(one: FieldDescriptorProto, message: DescriptorProto) -> dict[str, str]:
    """What of a field its readers rely on."""
    group = message.oneof_decl[one.oneof_index].name if one.HasField("oneof_index") else "none"
    kind = FieldDescriptorProto.Type.Name(one.type).removeprefix("TYPE_").lower()
    return {
        "name": one.name,
        "type": f"{kind} {one.type_name}".rstrip(),
        "label": FieldDescriptorProto.Label.Name(one.label).removeprefix("LABEL_").lower(),
        "presence": "explicit" if one.proto3_optional else "implicit",
        "oneof": "none" if one.proto3_optional else group,
    }


def _values(enum: str, before: EnumDescriptorProto, after: EnumDescriptorProto) -> Iterator[str]:
    found = {value.name: value.number for value in after.value}
    for value in before.value:
        place = f"value {enum}.{value.name} = {value.number}"
        if value.name not in found:
            yield f"{place} is gone"
        elif found[value.name] != value.number:
            yield f"{place}: its number is now {found[value.name]}"


def _methods(
    service: str, before: ServiceDescriptorProto, after: ServiceDescriptorProto
) -> Iterator[str]:
    found = {method.name: method for method in after.method}
    for method in before.method:
        place = f"method {service}.{method.name}"
        if method.name not in found:
            yield f"{place} is gone"
            continue
        now = found[method.name]
        for part in ("input_type", "output_type", "client_streaming", "server_streaming"):
            if getattr(method, part) != getattr(now, part):
                yield f"{place}: its {part} was {getattr(method, part)}, now {getattr(now, part)}"
