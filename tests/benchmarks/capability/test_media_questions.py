"""The QA form: joined to annotations, asked from the media, read and judged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.endless import comes_to_an_end

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.capability.answers import open_answer_right, read_choice, right_letter
from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.benchmarks.capability.media_questions import join
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason, Scored
from caliper.core.question import Item, Reply, Source
from caliper.core.rows import Row

NUMBERS = ["A. 2", "B. 7", "C. 4", "D. 6"]


def annotated(task: str, annotation: object, path: str = "1.mp4") -> Row:
    fields = {"file_id": "f", "file_path": path, "task": task, "annotation": annotation}
    return Row(f"{task}.jsonl", 1, fields)


def asked(task: str, question: str, /, line: int = 1, path: str = "1.mp4", **fields: Any) -> Row:
    plain = {"question_id": line, "question": question, "file_path": path, "task": task}
    answers = {"options": NUMBERS, "answer": "C"}
    return Row(f"{task}.jsonl", line, plain | answers | fields)


def media_items(data: list[Row], qa_rows: list[Row]) -> list[Item]:
    planned = BENCHMARK.plan(data, PlanRequest(settings={}, repeats=3, qa_rows=qa_rows))
    return [item for item in planned if item.source is Source.MEDIA]


def test_questions_are_joined_by_path_and_object() -> None:
    data = [annotated("dynamic_object_number", {"table": 4, "table lamp": 2, "bed": 1})]
    questions = [
        asked("dynamic_object_number", "How many bed(s) are in this room?", 1),
        asked("dynamic_object_number", "How many table lamp(s) are in this room?", 2),
        asked("dynamic_object_number", "How many table(s) are in this room?", 3),
    ]
    [item] = media_items(data, questions)
    assert item.key == "qa/dynamic_object_number/f"
    assert item.sample == "dynamic_object_number/f"
    key = "dynamic_object_number/f"
    assert [question.payload.joins for question in item.questions] == [(key, 2), (key, 1), (key, 0)]
    assert [question.repeats for question in item.questions] == [1, 1, 1]


def test_an_action_and_its_question_share_the_sample() -> None:
    [item] = media_items([annotated("action", "lifts off")], [asked("action", "Does it?")])
    assert (item.key, item.sample) == ("qa/action/f", "event/f")


@pytest.mark.parametrize(
    ("questions", "objects", "places"),
    [
        (["How many?", "How many?"], ["cup", "dog"], [0, 1]),
        (["How many cup?", "How many?"], ["dog", "cup"], [0, 1]),
        (["How many dog?"], ["cup", "dog"], [1]),
        (["What?", "What?"], [""], [0, None]),
        (["What?"], [], [None]),
    ],
)
def test_names_settle_which_question_is_whose_and_else_the_order(
    questions: list[str], objects: list[str], places: list[int | None]
) -> None:
    assert join(questions, objects) == places


def test_a_question_without_an_annotation_is_asked_but_joins_nothing() -> None:
    [item] = media_items([annotated("scene", "x", "a.jpg")], [asked("scene", "Is it?", 9)])
    assert item.key == "qa/scene/unjoined-9"
    assert item.questions[0].payload.joins is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"options": "A. 2"}, Reason.BAD_INPUT),
        ({"options": None}, Reason.BAD_INPUT),
        ({"options": [1, 2]}, Reason.BAD_INPUT),
        ({"answer": None}, Reason.BAD_INPUT),
        ({"answer": "E"}, Reason.BAD_GROUND_TRUTH),
        ({"answer": "C"}, None),
        ({"answer": "C. 4"}, None),
        ({"answer": "4"}, None),
    ],
)
def test_bad_options_and_answers_are_unscored(
    fields: dict[str, Any], reason: Reason | None
) -> None:
    data = [annotated("scene", "x")]
    [item] = media_items(data, [asked("scene", "Is it?", 4, **fields)])
    assert item.questions[0].unscored is reason
    assert item.questions[0].note.startswith("scene.jsonl:4: ") is (reason is not None)


@pytest.mark.parametrize("field", ["question_id", "question", "file_path", "task"])
def test_a_row_without_its_names_is_refused(field: str) -> None:
    broken: dict[str, Any] = {field: None}
    with pytest.raises(InvalidInput) as caught:
        media_items([annotated("scene", "x")], [asked("scene", "Is it?", **broken)])
    assert caught.value.field == field


def test_a_question_id_occurs_once() -> None:
    with pytest.raises(InvalidInput, match="occurs twice"):
        media_items([], [asked("scene", "Is it?"), asked("scene", "Is it?")])


@pytest.mark.parametrize(
    ("text", "strict", "lenient"),
    [
        ("B", "B", "B"),
        (" (B). ", "B", "B"),
        ("B. 7", "B", "B"),
        ("B. 2", None, None),
        ("7", "B", "B"),
        ("The answer is B.", None, "B"),
        ("answer: (b)", None, "B"),
        ("I think D", None, "D"),
        ("I think D because there are six", None, "D"),
        ("b", None, "B"),
        ('{"answer": "B"}', None, "B"),
        ("The answer is **C**, not A or B", None, "C"),
        ("The answer is a table", None, None),
        ("A cup, perhaps two", None, "A"),
        ("A cup", None, None),
        ("B or D", None, None),
        ("<think>A or B?</think>\nIt is C", None, "C"),
        ("<think>It is C, as", None, None),
        ("A or B", None, None),
        ("E", None, None),
        ("none", None, None),
        ("", None, None),
    ],
)
def test_letters_are_read(text: str, strict: str | None, lenient: str | None) -> None:
    for expected, loosely in ((strict, False), (lenient, True)):
        choice = read_choice(text, NUMBERS, lenient=loosely)
        assert (choice and choice.letter) == expected


def test_options_without_letters_get_those_of_their_places() -> None:
    assert right_letter("No", ["Yes", "No", "Can't tell"]) == "B"


@pytest.mark.parametrize(
    ("task", "expected", "answer", "right"),
    [
        ("object_color", "blue and white", "It is white and blue.", True),
        ("object_color", "blue and white", "blue", False),
        ("object_color", "red", "Red!", True),
        ("object_color", "red", "reddish", False),
        ("OCR", "Bardonecchia", "The sign says “BARDONECCHIA”", True),
        ("OCR", "Exit only", "only exit", False),
        ("OCR", "café", "CAFE", True),
        ("OCR", "回家", "我们回家吧", True),
        ("OCR", "the", "the", True),
        ("OCR", "art", "party", False),
        ("OCR", "!!!", "It reads !!!", True),
        ("character_identification", 'Raiden Shogun from the game "X"', "Raiden Shogun", True),
        ("character_identification", "Mario", "That is Luigi.", False),
    ],
)
def test_open_answers_are_judged_by_their_words(
    task: str, expected: str, answer: str, *, right: bool
) -> None:
    assert open_answer_right(task, expected, answer) is right


@given(text=st.text(), expected=st.text(), lenient=st.booleans())
def test_reading_answers_never_raises(text: str, expected: str, *, lenient: bool) -> None:
    choice = read_choice(text, NUMBERS, lenient=lenient)
    assert choice is None or choice.letter in "ABCD"
    for task in ("object_color", "OCR", "character_identification"):
        assert open_answer_right(task, expected, text) in (True, False)


def test_no_answer_and_no_annotation_takes_long() -> None:
    spaces = " " * 1_000_000
    with comes_to_an_end():
        assert read_choice(f"The answer{spaces}!", NUMBERS, lenient=True) is None
        assert not open_answer_right("character_identification", f"Ann{spaces}fro", "Bob")


@pytest.mark.parametrize(
    ("task", "fields", "prompt", "reply", "score"),
    [
        ("scene", {}, "capability/qa_choice", "C", 1),
        ("scene", {}, "capability/qa_choice", "B. 7", 0),
        ("OCR", {"options": None, "answer": "Exit"}, "capability/qa_open", "EXIT", 1),
        ("OCR", {"options": [], "answer": "Exit"}, "capability/qa_open", "I cannot tell", 0),
    ],
)
def test_a_question_is_asked_from_the_media(
    task: str, fields: dict[str, Any], prompt: str, reply: str, score: int
) -> None:
    [item] = media_items([annotated(task, "x")], [asked(task, "What is it?", **fields)])
    examination = BENCHMARK.examine(item, None, {})
    [ask] = next(examination)  # type: ignore[misc]
    assert ask.prompt == prompt
    assert ask.fields["question"] == "What is it?"
    with pytest.raises(StopIteration) as stop:
        examination.send([Reply(reply)])
    [verdict] = stop.value.value
    assert verdict.outcome == Scored(score)  # type: ignore[arg-type]
    question = item.questions[0]
    assert BENCHMARK.label(question, verdict.outcome) == ("correct" if score else "wrong")
    assert BENCHMARK.record_key(item, question, 0) == ("qa", task, "1")
    assert BENCHMARK.decode(BENCHMARK.encode(question.payload)) == question.payload
