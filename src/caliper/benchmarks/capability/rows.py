"""Rows of CAPability's files: their tasks, captions, and recorded replies.

Every file holds JSON Lines and is named after its task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from caliper.benchmarks.base import RecordKey
from caliper.benchmarks.capability.tasks import NAMES, TASKS, Form, Task
from caliper.benchmarks.literals import literal_list
from caliper.core.question import Source
from caliper.core.rows import Row, note_of

Seen = set[tuple[str, str]]


def stem_task(row: Row) -> Task:
    """Return the task that the row's file is named after. Raises InvalidInput if there is none."""
    name = row.file.replace("\\", "/").rsplit("/", 1)[-1]
    return _task_named(row, name.rsplit(".", 1)[0])


def describe_problem(row: Row, field: str, problem: str) -> str:
    """Describe a problem with a row, for the plan."""
    return note_of(row.error(field, problem))


def row_task(row: Row) -> Task:
    """Return the task of a dataset row.

    Raises InvalidInput if the field is missing, names no task, or contradicts the file name.
    """
    task = _task_named(row, row.text("task"))
    if stem_task(row) is not task:
        raise row.error("task", f"{task.name!r} in a file that is named after another task")
    return task


def _task_named(row: Row, name: str) -> Task:
    if name not in TASKS:
        raise row.error("task", f"unknown task {name!r}; known: {', '.join(NAMES)}")
    return TASKS[name]


def unique_id(row: Row, seen: Seen, task: Task, field: str) -> str:
    """Return the id in `field` and add it to `seen`. Raises InvalidInput for a duplicate."""
    identifier = row.text(field)
    if (task.name, identifier) in seen:
        raise row.error(field, f"{identifier!r} occurs twice in task {task.name}")
    seen.add((task.name, identifier))
    return identifier


def read_captions(rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
    """Yield (`task/file_id`, caption) from rows {file_id, caption} (README, "Inference").

    A null caption means none. Raises InvalidInput for an unknown task, a missing or duplicate
    file_id, and a caption that is missing or not text.
    """
    seen: Seen = set()
    for row in rows:
        task = stem_task(row)
        file_id = unique_id(row, seen, task, "file_id")
        if "caption" not in row.fields:
            raise row.error("caption", "missing")
        caption = row.fields["caption"]
        if not isinstance(caption, str | None):
            raise row.error("caption", f"expected text, found {caption!r:.60}")
        yield f"{task.name}/{file_id}", caption


def read_replies(rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
    """Yield recorded replies by key, in the form in which the model would have given them.

    About captions: the judge's JSON fields plus `file_id`, keyed (task, file_id, ordinal). In
    dynamic_object_number, `response` holds one element per object in annotation order, each the
    judge's fields or a bare score. About media: {question_id, response}, keyed
    (qa, task, question_id). Raises InvalidInput for an unknown task and for a missing or
    duplicate id.
    """
    seen: Seen = set()
    for row in rows:
        task = stem_task(row)
        if source is Source.MEDIA:
            question_id = unique_id(row, seen, task, "question_id")
            yield ("qa", task.name, question_id), _text(row.fields.get("response"))
            continue
        file_id = unique_id(row, seen, task, "file_id")
        for ordinal, fields in enumerate(_judge_fields(row, task)):
            yield (task.name, file_id, str(ordinal)), _text(fields)


def _judge_fields(row: Row, task: Task) -> list[object]:
    if task.form is not Form.NUMBERS or "response" not in row.fields:
        return [{name: value for name, value in row.fields.items() if name != "file_id"}]
    response = row.fields["response"]
    if isinstance(response, str):
        response = literal_list(response) or response
    elements = response if isinstance(response, list) else [response]
    return [
        {"score": element} if _is_score(element) else element  # null means no reply
        for element in elements
    ]


def _is_score(element: object) -> bool:
    return element in ("-1", "0", "1") or not isinstance(element, dict | str | None)


def _text(value: object) -> str:
    """Return the model's reply: text verbatim, anything else as JSON, "" for null."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
