"""Plan items from dataset rows: one question per row, or per object with its number.

A broken file (unknown task, missing or duplicate id) raises InvalidInput. An unusable annotation
affects only its own question, which becomes Unscored(bad_input) with a note naming file, line
and field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.capability.media_questions import plan_media
from caliper.benchmarks.capability.questions import ElementQuestion
from caliper.benchmarks.capability.rows import Seen, describe_problem, row_task, unique_id
from caliper.benchmarks.capability.tasks import Form, Task
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question
from caliper.core.rows import Row

NAME = "capability"


def plan(rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
    """Yield items about captions in row order, then items about the media if requested.

    Raises InvalidInput for a broken file.
    """
    if request.qa_rows is None:
        yield from _caption_items(rows, request)
        return
    caption_items = []
    for item in _caption_items(rows, request):
        caption_items.append(item)
        yield item
    yield from plan_media(caption_items, request.qa_rows)


def _caption_items(rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
    seen: Seen = set()
    for row in rows:
        task = row_task(row)
        file_id = unique_id(row, seen, task, "file_id")
        path = row.text("file_path")
        yield Item(
            benchmark=NAME,
            key=f"{task.name}/{file_id}",
            sample=_sample(task, file_id, request.captions),
            cluster=path,
            media=(path,),
            questions=tuple(_questions(row, task, request.repeats or 1)),
        )


def _sample(task: Task, file_id: str, supplied: Collection[str] | None) -> str:
    """Return the sample to caption. An action shares the event's video unless it has a caption."""
    key = f"{task.name}/{file_id}"
    if task.name == "action" and key not in (supplied or ()):
        return f"event/{file_id}"
    return key


def _questions(row: Row, task: Task, repeats: int) -> Iterator[Question[ElementQuestion]]:
    elements = _READERS[task.form](row.fields.get("annotation"), task)
    for ordinal, element in enumerate(elements):
        yield Question(
            ordinal=ordinal,
            payload=ElementQuestion(task.name, element.value, element.object),
            repeats=repeats,
            unscored=Reason.BAD_INPUT if element.problem else None,
            note=describe_problem(row, "annotation", element.problem) if element.problem else "",
        )


@dataclass(frozen=True, slots=True)
class _Element:
    """An annotated value, its object if any, and why it is unusable ("" if it is usable)."""

    value: str
    object: str = ""
    problem: str = ""


def _text(annotation: object, _: Task) -> list[_Element]:
    if isinstance(annotation, str) and annotation.strip():
        return [_Element(annotation)]
    return [_unusable("text", annotation)]


def _category(annotation: object, task: Task) -> list[_Element]:
    if annotation in task.labels:
        return [_Element(str(annotation))]
    return [_unusable(f"one of {', '.join(task.labels)}", annotation)]


def _number(annotation: object, _: Task) -> list[_Element]:
    return _one_pair(annotation, _number_of)


def _colour(annotation: object, _: Task) -> list[_Element]:
    return _one_pair(annotation, _colour_of)


def _numbers(annotation: object, _: Task) -> list[_Element]:
    return _pairs(annotation, _number_of) or [
        _unusable("an object with at least one key", annotation)
    ]


def _one_pair(annotation: object, read: Callable[[str, object], _Element]) -> list[_Element]:
    pairs = _pairs(annotation, read)
    return pairs if len(pairs) == 1 else [_unusable("an object with exactly one key", annotation)]


def _pairs(annotation: object, read: Callable[[str, object], _Element]) -> list[_Element]:
    """Read the pairs of a dict in order, dropping nulls.

    The parquet copy of the data adds every key of the column to every row, with null values.
    """
    if not isinstance(annotation, Mapping):
        return []
    return [read(str(name), value) for name, value in annotation.items() if value is not None]


def _number_of(name: str, value: object) -> _Element:
    """Read a whole number, which tables store as a float if the column contains nulls."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0 or not name.strip():
        return _unusable("a name with a whole number", {name: value}, name)
    return _Element(str(value), name)


def _colour_of(name: str, value: object) -> _Element:
    if not isinstance(value, str) or not value.strip() or not name.strip():
        return _unusable("a name with a color", {name: value}, name)
    return _Element(value, name)


def _unusable(expected: str, value: object, name: str = "") -> _Element:
    actual = "nothing" if value is None else f"{value!r:.80}"
    return _Element("", name, f"expected {expected}, found {actual}")


_READERS: dict[Form, Callable[[object, Task], list[_Element]]] = {
    Form.TEXT: _text,
    Form.NUMBER: _number,
    Form.COLOUR: _colour,
    Form.NUMBERS: _numbers,
    Form.CATEGORY: _category,
}
