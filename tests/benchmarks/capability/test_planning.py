from __future__ import annotations

import pytest

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.benchmarks.capability.questions import ElementQuestion
from caliper.benchmarks.capability.tasks import NAMES
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Item
from caliper.core.rows import Row


def row(task: str, annotation: object, /, file_id: str = "f1", **fields: object) -> Row:
    plain = {"file_id": file_id, "file_path": f"{task}/{file_id}.jpg", "task": task}
    return Row(f"data/{task}.jsonl", 7, plain | {"annotation": annotation} | fields)


def plan(*rows: Row, **request: object) -> list[Item]:
    return list(BENCHMARK.plan(rows, PlanRequest(settings={}, **request)))  # type: ignore[arg-type]


def payloads(item: Item) -> list[ElementQuestion]:
    return [question.payload for question in item.questions]


@pytest.mark.parametrize(
    ("task", "annotation", "element", "named"),
    [
        ("object_category", "face mask", "face mask", ""),
        ("object_number", {"porridge": 2}, "2", "porridge"),
        ("object_number", {"porridge": 2.0}, "2", "porridge"),
        ("object_color", {"cup": "blue and white"}, "blue and white", "cup"),
        ("spatial_relation", "The mirror is to the left of the table", None, ""),
        ("camera_angle", "dutch angle", "dutch angle", ""),
        ("style", "special effect", "special effect", ""),
        ("OCR", "回家", "回家", ""),
        ("camera_movement", "fixed", "fixed", ""),
        ("event", "Trucks drive off the boat one by one", None, ""),
    ],
)
def test_an_annotation_becomes_one_question(
    task: str, annotation: object, element: str | None, named: str
) -> None:
    [item] = plan(row(task, annotation))
    assert (item.key, item.cluster) == (f"{task}/f1", f"{task}/f1.jpg")
    assert item.media == (f"{task}/f1.jpg",)
    assert payloads(item) == [ElementQuestion(task, element or str(annotation), named)]
    assert item.questions[0].unscored is None


def test_a_video_with_counted_objects_has_one_question_an_object_in_order() -> None:
    annotation = {"table": 4, "sofa": None, "chair": 11, "bed": 1}
    [item] = plan(row("dynamic_object_number", annotation))
    assert [(payload.object, payload.element) for payload in payloads(item)] == [
        ("table", "4"),
        ("chair", "11"),
        ("bed", "1"),
    ]
    assert [question.ordinal for question in item.questions] == [0, 1, 2]


def test_null_keys_of_the_parquet_copy_are_dropped() -> None:
    [item] = plan(row("object_number", {"cup": None, "dog": 3, "tree": None}))
    assert payloads(item) == [ElementQuestion("object_number", "3", "dog")]


@pytest.mark.parametrize(
    ("task", "annotation"),
    [
        ("object_category", 3),
        ("object_category", None),
        ("scene", "  "),
        ("object_number", "two cups"),
        ("object_number", {"cup": 2, "plate": 3}),
        ("object_number", {}),
        ("object_number", {"cup": None}),
        ("object_number", {"cup": "two"}),
        ("object_number", {"cup": True}),
        ("object_number", {"cup": 2.5}),
        ("object_number", {"": 2}),
        ("object_color", {"cup": 2}),
        ("object_color", {"cup": "red", "plate": "blue"}),
        ("object_color", "red"),
        ("dynamic_object_number", {}),
        ("dynamic_object_number", ["table"]),
        ("style", "Realistic"),
        ("camera_angle", "level"),
        ("camera_movement", "zoom in"),
        ("camera_movement", ["in"]),
    ],
)
def test_an_unusable_annotation_is_unscored_and_says_where(task: str, annotation: object) -> None:
    good = row("event", "A dog barks")
    item, other = plan(row(task, annotation), good)
    [question] = item.questions
    assert question.unscored is Reason.BAD_INPUT
    assert question.note.startswith(f"{task}.jsonl:7: annotation: expected")
    assert other.questions[0].unscored is None


def test_one_bad_count_leaves_the_other_objects_of_a_video_alone() -> None:
    [item] = plan(row("dynamic_object_number", {"table": "four", "chair": 2}))
    assert [question.unscored for question in item.questions] == [Reason.BAD_INPUT, None]


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([row("juggling", "x")], "task"),
        ([row("event", "x", task=None)], "task"),
        ([row("event", "x", task="action")], "task"),
        ([Row("data/train.jsonl", 7, row("event", "x").fields)], "task"),
        ([row("event", "x", file_id="")], "file_id"),
        ([row("event", "x", file_path=None)], "file_path"),
        ([row("event", "x"), row("event", "y")], "file_id"),
    ],
)
def test_a_broken_file_is_refused(rows: list[Row], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan(*rows)
    assert caught.value.line == 7
    assert caught.value.field == field


def test_an_unknown_task_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="juggling.*" + ", ".join(NAMES)):
        plan(row("juggling", "x"))


def test_the_same_file_id_in_two_tasks_is_no_duplicate() -> None:
    assert len(plan(row("event", "x"), row("action", "y"))) == 2


@pytest.mark.parametrize(
    ("captions", "sample"),
    [
        (None, "event/event_1"),
        (frozenset({"event/event_1"}), "event/event_1"),
        (frozenset({"event/event_1", "action/event_1"}), "action/event_1"),
    ],
)
def test_an_action_uses_its_own_caption_or_the_one_of_the_event(
    captions: frozenset[str] | None, sample: str
) -> None:
    [item] = plan(row("action", "lifts off", file_id="event_1"), captions=captions)
    assert (item.key, item.sample) == ("action/event_1", sample)


def test_repeats_are_part_of_the_questions() -> None:
    [item] = plan(row("event", "x"), repeats=5)
    assert item.size == 5
    assert [index for index, _, _ in item.positions()] == [0, 1, 2, 3, 4]


def test_payloads_survive_encoding() -> None:
    [item] = plan(row("object_color", {"cup": "red"}))
    [question] = item.questions
    assert BENCHMARK.decode(BENCHMARK.encode(question.payload)) == question.payload
