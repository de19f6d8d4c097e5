"""Asking a model for the elements of a medium, and reading what it lists."""

from __future__ import annotations

from collections.abc import Mapping
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
_WANTED = {
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
    """What a model is to list of a medium, for the prompt."""
    wanted = _WANTED[task.name]
    if task.form is not Form.CATEGORY:
        return wanted
    lines = "\n".join(f"- {category.line}" for category in task.categories)
    return f"{wanted}, which is one of these names:\n{lines}"


def read_listing(reply: str, image: str, category: str, most: int) -> WrittenCandidates | None:
    """Read at most `most` elements of a reply; None if it is unreadable.

    No element is an answer too: the medium may show nothing of a dimension.
    """
    entries = reply_entries(reply, "elements", "value")
    if entries is None:
        return None
    found = [_candidate(entry, image, TASKS[category]) for entry in entries]
    candidates = tuple(each for each in found if each is not None)[:most]
    return WrittenCandidates(candidates, len(entries) - len(candidates))


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
