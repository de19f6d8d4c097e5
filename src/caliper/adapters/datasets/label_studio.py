"""People's labels in the files that Label Studio exports, as JSON or JSON-MIN.

JSON has a task per element with the annotations of all people; JSON-MIN has an element per
annotation that was not skipped, with the task's data beside the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.jsonrows import list_rows
from caliper.adapters.datasets.jsontext import BYTE_ORDER_MARK, unreadable
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


@dataclass(frozen=True, slots=True)
class PersonLabel:
    """A person's choice for a task; None if it was skipped. `data` are the task's."""

    row: Row
    person: str
    data: Mapping[str, Any]
    choice: str | None

    def error(self, field: str, message: str) -> InvalidInput:
        """The error to raise when a field of the task, or the label, is unusable."""
        return task_error(self.row, field, message)

    def text(self, field: str) -> str:
        """A text of the task's data. Raises InvalidInput."""
        value = self.data.get(field)
        if not isinstance(value, str):
            raise self.error(field, f"expected text, found {value!r:.60}")
        return value


def task_error(row: Row, field: str, message: str) -> InvalidInput:
    """An error that names the task as Label Studio numbers it."""
    return row.error(field, f"task {row.fields.get('id', '?')!s:.20}: {message}")


def is_label_studio(path: Path) -> bool:
    """Whether a file is a JSON list, not JSON Lines. Raises InvalidInput if it is unreadable."""
    try:
        with path.open("rb") as file:
            start = file.read(64)
    except OSError as error:
        raise unreadable(path, error) from error
    return start.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"[")


def person_labels(path: Path, control: str) -> Iterator[PersonLabel]:
    """The labels that people gave with the control of this name, in the file's order.

    Raises InvalidInput naming file, task and field.
    """
    for row in list_rows(path):
        if "annotations" in row.fields:
            yield from _annotations(row, control)
        elif "annotation_id" not in row.fields:
            raise task_error(row, "annotations", "expected Label Studio's JSON or JSON-MIN")
        elif row.fields["annotation_id"] is not None:
            choice = row.fields.get(control)
            yield PersonLabel(row, _person(row, "annotator"), row.fields, _choice(row, [choice]))


def _annotations(row: Row, control: str) -> Iterator[PersonLabel]:
    data, annotations = row.fields.get("data"), row.fields["annotations"]
    if not isinstance(data, dict):
        raise task_error(row, "data", f"expected an object, found {data!r:.60}")
    if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
        raise task_error(row, "annotations", "expected a list of objects")
    for annotation in annotations:
        place = replace(row, fields={**annotation, "id": row.fields.get("id", "?")})
        person, choice = _person(place, "completed_by"), None
        if annotation.get("was_cancelled") is not True:
            choice = _choice(row, _choices_of(place, control))
        yield PersonLabel(row, person, data, choice)


def _person(row: Row, field: str) -> str:
    """A person's e-mail address, or else their number."""
    value = row.fields.get(field)
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    if not isinstance(value, int | str) or isinstance(value, bool) or value == "":
        raise task_error(row, field, f"expected a person, found {value!r:.60}")
    return str(value)


def _choices_of(row: Row, control: str) -> list[Any]:
    """The choices of an annotation for a control."""
    results = row.fields.get("result")
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise task_error(row, "result", "expected a list of objects")
    values: list[Any] = []
    for result in results:
        value = result.get("value")
        if result.get("from_name") == control and isinstance(value, dict):
            choices = value.get("choices")
            values += choices if isinstance(choices, list) else [choices]
    return values


def _choice(row: Row, choices: list[Any]) -> str:
    if len(choices) != 1 or not isinstance(choices[0], str):
        raise task_error(row, "label", f"expected one choice, found {choices!r:.60}")
    return choices[0]
