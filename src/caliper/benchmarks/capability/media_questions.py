"""CAPability-QA: the annotations asked as questions about the media (paper 3.2, B.4).

A `question_id` is a row index, not the file_id of an annotation, so rows are joined on
file_path. If a path has several annotated elements (the objects of dynamic_object_number), a
question belongs to the object it names; if names are ambiguous, questions and elements are
paired in order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from caliper.benchmarks.capability.answers import right_letter
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.benchmarks.capability.rows import Seen, describe_problem, row_task, unique_id
from caliper.benchmarks.capability.tasks import Task
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question, Source
from caliper.core.rows import Row

_Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Slot:
    """An annotated element that a question may belong to."""

    item: Item
    ordinal: int
    object: str


def plan_media(captioned: Sequence[Item], rows: Iterable[Row]) -> Iterator[Item]:
    """Yield items about the media in row order, keyed `qa/` + the key of the caption item.

    Each question is asked once, since only judging is repeated. Questions without an annotation
    are asked too, but do not count in KT-bar. Raises InvalidInput for a missing field or a
    duplicate question_id.
    """
    slots = _slots(captioned)
    seen: Seen = set()
    by_place: dict[_Place, list[tuple[str, Row]]] = defaultdict(list)
    for row in rows:
        task = row_task(row)
        question_id = unique_id(row, seen, task, "question_id")
        row.text("question")
        by_place[task.name, row.text("file_path")].append((question_id, row))
    for (task_name, path), entries in by_place.items():
        yield from _items_of(task_name, path, entries, slots.get((task_name, path), []))


def _slots(captioned: Sequence[Item]) -> dict[_Place, list[_Slot]]:
    slots: dict[_Place, list[_Slot]] = defaultdict(list)
    for item in captioned:
        for question in item.questions:
            element: ElementQuestion = question.payload
            slot = _Slot(item, question.ordinal, element.object)
            slots[element.task, item.media[0]].append(slot)
    return slots


def _items_of(
    task: str, path: str, entries: Sequence[tuple[str, Row]], slots: Sequence[_Slot]
) -> Iterator[Item]:
    """Yield the items of one path, with the questions grouped by annotation."""
    places = join([row.text("question") for _, row in entries], [slot.object for slot in slots])
    grouped: dict[str, list[tuple[str, Row, _Slot | None]]] = defaultdict(list)
    for (question_id, row), place in zip(entries, places, strict=True):
        slot = None if place is None else slots[place]
        key = f"{task}/unjoined-{question_id}" if slot is None else slot.item.key
        grouped[key].append((question_id, row, slot))
    for key, members in grouped.items():
        slot = members[0][2]
        yield Item(
            benchmark="capability",
            key=f"qa/{key}",
            sample=slot.item.sample if slot else f"qa/{key}",
            cluster=path,
            media=(path,),
            questions=tuple(
                _question(ordinal, question_id, row, joins)
                for ordinal, (question_id, row, joins) in enumerate(members)
            ),
            source=Source.MEDIA,
        )


def join(questions: Sequence[str], objects: Sequence[str]) -> list[int | None]:
    """Return the index of the annotated element per question on a path; None if none is left.

    `objects` are the elements' objects, empty strings for tasks without objects.
    """
    places = [_longest_object(question, objects) for question in questions]
    if None not in places and len(set(places)) == len(places):
        return places
    return [place if place < len(objects) else None for place in range(len(questions))]


def _longest_object(question: str, objects: Sequence[str]) -> int | None:
    """Return the index of the longest object named in the question; None if it names none."""
    matches = [
        place
        for place, name in enumerate(objects)
        if name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
    ]
    return max(matches, key=lambda place: len(objects[place]), default=None)


def _question(
    ordinal: int, question_id: str, row: Row, slot: _Slot | None
) -> Question[MediaQuestion]:
    task: Task = row_task(row)
    options, problem = _options(row)
    answer = row.fields.get("answer")
    reason = Reason.BAD_INPUT if problem else None
    if not isinstance(answer, str) or not answer.strip():
        problem, reason = describe_problem(row, "answer", "expected text"), Reason.BAD_INPUT
    elif options and right_letter(answer, options) is None:
        problem = describe_problem(row, "answer", f"{answer!r:.60} is none of the options")
        reason = Reason.BAD_GROUND_TRUTH
    payload = MediaQuestion(
        task=task.name,
        question=row.text("question"),
        options=options,
        answer=answer if isinstance(answer, str) else "",
        joins=(slot.item.key, slot.ordinal) if slot else None,
        question_id=question_id,
    )
    return Question(ordinal, payload, unscored=reason, note=problem)


def _options(row: Row) -> tuple[tuple[str, ...], str]:
    """Return the lettered options (none for an open question) and a note on any problem."""
    value = row.fields.get("options")
    if not value and row_task(row).open_qa:
        return (), ""
    texts = list(value) if isinstance(value, list | tuple) else []
    if len(texts) < 2 or not all(isinstance(option, str) for option in texts):
        return (), describe_problem(
            row, "options", f"expected a list of texts, found {value!r:.80}"
        )
    return tuple(texts), ""
