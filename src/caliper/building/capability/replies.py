"""Asking a model for the elements of a medium, and reading its lists and groups of synonyms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from caliper.benchmarks.capability.tasks import TASKS, Form, Task
from caliper.building.candidates import LONGEST_TEXT, Candidate
from caliper.building.capability.annotations import OBJECT_FORMS, annotation
from caliper.building.generation import WrittenCandidates, reply_entries

LISTING_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "elements": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"object": {"type": "string"}, "value": {"type": "string"}},
                "required": ["value"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["elements"],
    "additionalProperties": False,
}
MERGING_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "groups": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"same": {"type": "array", "items": {"type": "string"}}},
                "required": ["same"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["groups"],
    "additionalProperties": False,
}
_ELEMENTS = {
    "object_category": "every object; the value is its name, as specific as the image allows",
    "object_number": "every kind of object of which there are several and all can be counted; "
    "the object is its name, the value the number in digits",
    "object_color": "every object with a clear color; the object is its name, the value the color",
    "spatial_relation": "every spatial relation of two objects that are near each other; the "
    "value is a sentence, such as: The mirror is to the left of the table",
    "scene": "the scene; one value, which names the place",
    "camera_angle": "the camera angle; one value",
    "OCR": "every text that can be read; the value is the text, letter by letter",
    "style": "the style; one value",
    "character_identification": "the person or character, if it is a known one; the value is the "
    "name, with the work that a character is from",
    "dynamic_object_number": "every kind of object that can be counted over the whole video; the "
    "object is its name, the value the number in digits",
    "action": "every action; the value is a verb phrase",
    "camera_movement": "the movement of the camera; one value",
    "event": "every event; the value is a sentence with its subject and action",
}


def instruction(task: Task) -> str:
    """The prompt's description of the elements to list."""
    elements = _ELEMENTS[task.name]
    if task.form is not Form.CATEGORY:
        return elements
    lines = "\n".join(f"- {category.line}" for category in task.categories)
    return f"{elements}, which is one of these names:\n{lines}"


def list_text(task: Task, names: Sequence[str]) -> str:
    """The prompt's list of names to merge."""
    return "\n".join((f"{task.title}:", *(f"- {name}" for name in names)))


def read_listing(reply: str, image: str, category: str, most: int) -> WrittenCandidates | None:
    """Read at most `most` elements of a reply; None if it is unreadable.

    An empty list is a valid answer: the medium may show nothing of a dimension.
    """
    entries = reply_entries(reply, "elements", "value")
    if entries is None:
        return None
    elements = [_candidate(entry, image, TASKS[category]) for entry in entries]
    candidates = tuple(each for each in elements if each is not None)[:most]
    return WrittenCandidates(candidates, len(entries) - len(candidates))


def read_synonyms(reply: str, image: str, category: str, most: int) -> WrittenCandidates | None:
    """Read at most `most` groups of names for the same element, as the choices of a candidate each;
    None if the reply is unreadable. An empty list is a valid answer.
    """
    entries = reply_entries(reply, "groups", "same")
    if entries is None:
        return None
    groups = [_names(entry) for entry in entries]
    candidates = tuple(
        Candidate.of(image, category, names, names[0], category)
        for names in groups
        if len(names) > 1
    )[:most]
    return WrittenCandidates(candidates, len(entries) - len(candidates))


def _names(entry: Any) -> list[str]:
    names = entry.get("same") if isinstance(entry, Mapping) else None
    return [text for text in map(_text, names) if text] if isinstance(names, list) else []


def _candidate(entry: Any, image: str, task: Task) -> Candidate | None:
    if not isinstance(entry, Mapping):
        return None
    value, name = _text(entry.get("value")), _text(entry.get("object"))
    if not value or (task.form in OBJECT_FORMS and not name):
        return None
    return annotation(task, image, value, name)


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) and len(value) <= LONGEST_TEXT else ""
