"""Reading a model's descriptions, relations and wrong descriptions of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from caliper.building.candidates import LONGEST_TEXT, Candidate
from caliper.building.comprecap.relations import relation_candidate
from caliper.building.comprecap.scenes import OBJECT, QUESTION, object_category
from caliper.building.generation import WrittenCandidates, reply_entries


def _schema(listed: str, *fields: str) -> Mapping[str, Any]:
    entry = {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": list(fields),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {listed: {"type": "array", "items": entry}},
        "required": [listed],
        "additionalProperties": False,
    }


DESCRIBE_SCHEMA = _schema("descriptions", "short", "full")
RELATE_SCHEMA = _schema("relations", "subject", "object", "relation")
MISLEAD_SCHEMA = _schema("descriptions", "wrong")


def read_description(reply: str, image: str, name: str, most: int) -> WrittenCandidates | None:
    """The description of the object `name`; None if the reply is unreadable."""

    def candidate(entry: Mapping[str, Any]) -> Candidate | None:
        short, full = (_plain(_text(entry, field), name) for field in ("short", "full"))
        texts = list(dict.fromkeys(text for text in (short, full) if text))
        return Candidate.of(image, name, (), "\n".join(texts), OBJECT) if texts else None

    return _read(reply_entries(reply, "descriptions", "short"), candidate, most)


def read_relations(reply: str, image: str, _: str, most: int) -> WrittenCandidates | None:
    """At most `most` relations between objects, by their names; None if the reply is unreadable."""

    def candidate(entry: Mapping[str, Any]) -> Candidate | None:
        subject, end, text = (_text(entry, field) for field in ("subject", "object", "relation"))
        whole = subject and end and text
        text = _plain(text, subject, end)
        return relation_candidate(image, subject, end, text) if whole else None

    return _read(reply_entries(reply, "relations", "relation"), candidate, most)


def read_wrong_descriptions(
    reply: str, image: str, name: str, most: int
) -> WrittenCandidates | None:
    """Wrong descriptions of the object `name`, as the choices of one candidate that lacks the right
    one; None if the reply is unreadable.
    """
    entries = reply_entries(reply, "descriptions", "wrong")
    if entries is None:
        return None
    texts = [_text(entry, "wrong") for entry in entries if isinstance(entry, Mapping)]
    choices = tuple(filter(None, texts))[:most]
    if len(choices) < most:
        return WrittenCandidates((), len(entries))
    candidate = Candidate.of(image, name, choices, choices[0], QUESTION)
    return WrittenCandidates((candidate,), len(entries) - most)


def _read(
    entries: list[Any] | None,
    parse: Callable[[Mapping[str, Any]], Candidate | None],
    most: int,
) -> WrittenCandidates | None:
    if entries is None:
        return None
    parsed = [parse(entry) for entry in entries if isinstance(entry, Mapping)]
    candidates = tuple(each for each in parsed if each is not None)[:most]
    return WrittenCandidates(candidates, len(entries) - len(candidates))


def _plain(text: str, *names: str) -> str:
    """The text with categories in place of names, whose numbers are ours."""
    for name in names:
        text = text.replace(name, object_category(name)) if name else text
    return text


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field)
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if len(text) < LONGEST_TEXT // 2 else ""
