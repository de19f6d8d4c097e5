"""Annotations as candidates: reading supplied ones, format rules, and people's edits.

The category of a candidate is its dimension. `question` names the object whose number or color
`answer` is; in other dimensions it is the dimension's title. `choices` are the categories of the
dimension, if any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from caliper.benchmarks.capability.answers import words
from caliper.benchmarks.capability.tasks import NAMES, TASKS, Form, Task
from caliper.building.candidates import LONGEST_TEXT, Candidate, spelling_key
from caliper.building.kinds import CandidateEdit
from caliper.building.steps import Fate
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.keys import digest
from caliper.core.rows import Row

OBJECT_FORMS = frozenset({Form.NUMBER, Form.NUMBERS, Form.COLOUR})
"""Forms of annotations that are about an object which they name."""
_NUMBERS = frozenset({Form.NUMBER, Form.NUMBERS})
_FIXED = frozenset({"object_category", "action"})
_EMPTY = frozenset(("", "n/a", "no text"))
_VAGUE = frozenset(("na", "none", "nothing", "unknown", "unclear", "null"))
_GIVEN = "given"


def annotation(task: Task, path: str, value: str, name: str = "") -> Candidate:
    """The annotation of a medium; `name` is the object, if the dimension has one."""
    about = (name if task.form in OBJECT_FORMS else "") or task.title
    return Candidate(
        id=digest(["annotation", task.name, path, about, value])[:16],
        image=path,
        question=about,
        choices=task.labels,
        answer=value,
        category=task.name,
    )


def credit_annotator(candidate: Candidate, annotator: str) -> Candidate:
    """The annotation, with its annotator."""
    own = digest([candidate.id, annotator])[:16]
    return replace(candidate, id=own, flags=(annotator,))


def heading(candidate: Candidate) -> str:
    """The dimension, and the object if it has one."""
    title = TASKS[candidate.category].title
    return title if candidate.question == title else f"{title}: {candidate.question}"


def text_key(text: str) -> str:
    """The form of a text for comparisons: without case, accents, punctuation and articles."""
    return " ".join(words(text)) or text.strip()


def read_annotations(
    rows: Iterable[Row], media: Collection[str], tasks: Collection[str]
) -> Iterator[Candidate]:
    """Annotations from rows {file_path, task, annotation} in the official forms (docs/data.md).

    `annotator` names their author. Those of other dimensions than `tasks` are left out. Raises
    InvalidInput naming file, line and field, also for a medium that is not among `media`.
    """
    for row in rows:
        name, path = row.text("task"), row.text("file_path")
        if name not in TASKS:
            raise row.error("task", str(UnknownName("task", name, NAMES)))
        if path not in media:
            raise row.error("file_path", f"no such medium: {path!r:.80}")
        annotator = row.text("annotator") if "annotator" in row.fields else _GIVEN
        if name in tasks:
            for about, value in _pairs(row, TASKS[name]):
                yield credit_annotator(annotation(TASKS[name], path, value, about), annotator)


def _pairs(row: Row, task: Task) -> list[tuple[str, str]]:
    value = row.fields.get("annotation")
    if task.form not in OBJECT_FORMS:
        return [("", _text(row, value))]
    if not isinstance(value, Mapping):
        raise row.error("annotation", f"expected {task.form}, found {value!r:.60}")
    # A parquet copy of the data has every key of the column in every row, with null values.
    pairs = [(str(name), _text(row, each)) for name, each in value.items() if each is not None]
    if not pairs or not all(name.strip() for name, _ in pairs):
        raise row.error("annotation", f"expected {task.form}, found {value!r:.60}")
    return pairs


def _text(row: Row, value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_TEXT:
        raise row.error("annotation", f"expected text, found {value!r:.60}")
    return value


def check_annotations(candidates: Iterable[Candidate]) -> tuple[Fate, ...]:
    """Tidy annotations, and drop those that the dimension cannot have, with the reason."""
    seen: set[tuple[str, ...]] = set()
    fates = []
    for candidate in candidates:
        tidy = _repair(candidate)
        reason, detail = _fault(tidy)
        place = (tidy.image, tidy.category, text_key(tidy.question))
        said = (*place, "" if has_one_value(tidy) else text_key(tidy.answer), *tidy.flags)
        if not reason and said in seen:
            reason, detail = "same element twice", tidy.answer
        if not reason:
            seen.add(said)
        fates.append(Fate(tidy, reason, detail))
    return tuple(fates)


def has_one_value(candidate: Candidate) -> bool:
    """Whether an element of the dimension has one value: an object's number, or the scene.

    Global, camera and knowledge dimensions have one annotation per medium (paper 3.1); in the
    others, a medium has many elements.
    """
    return candidate.category not in (
        "object_category", "spatial_relation", "OCR", "action", "event",
    )  # fmt: skip


def _repair(candidate: Candidate) -> Candidate:
    about, value = " ".join(candidate.question.split()), " ".join(candidate.answer.split())
    labels = {text_key(label): label for label in candidate.choices}
    value = labels.get(text_key(value), value)
    if TASKS[candidate.category].form in _NUMBERS and value.isdecimal():
        value = str(int(value))
    return replace(candidate, question=about, answer=value)


def _fault(candidate: Candidate) -> tuple[str, str]:
    task, value = TASKS[candidate.category], candidate.answer
    # The text on a sign may be "none".
    vague = spelling_key(value) in _VAGUE and task.name != "OCR"
    if vague or spelling_key(value) in _EMPTY or not text_key(candidate.question):
        return "annotation without content", value
    if candidate.choices and value not in candidate.choices:
        return "value is not one of the categories", value
    if task.form in _NUMBERS and not (value.isdecimal() and 0 < int(value) < 10**6):
        return "value is not a number", value
    return "", ""


def editable_fields(candidate: Candidate) -> tuple[str, ...]:
    """The fields that people may change. Objects and actions are only accepted or rejected, so
    that their draw stays random (paper 3.1, human annotation).
    """
    return () if candidate.category in _FIXED else ("answer",)


def edit_annotation(candidate: Candidate, edit: CandidateEdit) -> Candidate:
    """The annotation with another value. Raises InvalidInput if the dimension cannot have it."""
    if len(edit.answer) > LONGEST_TEXT:
        raise InvalidInput(f"longer than {LONGEST_TEXT:,} characters")
    changed = _repair(replace(candidate, answer=edit.answer))
    reason, detail = _fault(changed)
    if reason:
        raise InvalidInput(f"{reason}: {detail}" if detail else reason)
    return changed
