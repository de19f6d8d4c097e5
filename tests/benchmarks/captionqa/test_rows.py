from typing import Any

import pytest

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat
from caliper.core.question import Item, Source
from caliper.core.rows import Row


def rows(*pairs: tuple[str, Any], file: str = "replies.json") -> list[Row]:
    return [
        Row(file, line, {"key": key, "value": value}) for line, (key, value) in enumerate(pairs, 1)
    ]


def test_layouts() -> None:
    assert BENCHMARK.data.format is FileFormat.TABLE
    assert BENCHMARK.captions.format is FileFormat.OBJECT
    assert BENCHMARK.replies.format is FileFormat.OBJECT_FOLDER
    assert BENCHMARK.qa_data is None
    assert BENCHMARK.qa_replies.format is FileFormat.OBJECT_FOLDER


def test_captions() -> None:
    given = rows(("nat_1", "A cat."), ("nat_2", ""), ("nat_3", None))
    assert list(BENCHMARK.read_captions(given)) == [
        ("nat_1", "A cat."),
        ("nat_2", ""),
        ("nat_3", None),
    ]


@pytest.mark.parametrize("value", [3, ["A cat."], {"caption": "A cat."}, True])
def test_a_caption_that_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^replies.json:1: nat_1: expected a caption"):
        list(BENCHMARK.read_captions(rows(("nat_1", value))))


def plan(*texts: str) -> list[Item]:
    questions = [{"question": text, "choices": ["a", "b"], "answer": "a"} for text in texts]
    row = Row("d.json", 1, {"id": "nat_1", "questions": questions, "images": ["a.jpg"]})
    return list(BENCHMARK.plan([row], PlanRequest({}, repeats=2, qa_rows=[])))


@pytest.mark.parametrize("source", list(Source))
def test_recorded_replies_meet_their_questions_in_order(source: Source) -> None:
    item = next(
        item for item in plan("What?", "Who?", " What? ", "Where?") if item.source is source
    )
    entries = [
        {"question": "What?", "model_response": "A", "score": 1.0},
        {"question": "What?", "model_response": "B"},
        {"question": "Who?", "model_response": 3},
        {"question": "Where?", "model_response": None},
        {"question": "Extra?", "model_response": "D"},
    ]
    replies = dict(BENCHMARK.read_replies(rows(("nat_1", entries), ("nat_2", [])), source))
    for repeat in range(2):
        keys = [BENCHMARK.record_key(item, question, repeat) for question in item.questions]
        assert [replies.get(key) for key in keys] == ["A", "3", "B", None]


def test_an_absent_reply_still_takes_its_place() -> None:
    item, _ = plan("What?", "What?")
    entries = [{"question": "What?"}, {"question": "What?", "model_response": "B"}]
    replies = dict(BENCHMARK.read_replies(rows(("nat_1", entries)), Source.CAPTION))
    keys = [BENCHMARK.record_key(item, question, 0) for question in item.questions]
    assert [replies.get(key) for key in keys] == [None, "B"]


def test_equal_questions_are_counted_over_files() -> None:
    entry = [{"question": "What?", "model_response": "A"}]
    given = rows(("nat_1", entry), file="a.json") + rows(("nat_1", entry), file="b.json")
    keys = [key for key, _ in BENCHMARK.read_replies(given, Source.CAPTION)]
    assert keys == [("nat_1", "What?", "0"), ("nat_1", "What?", "1")]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"question": "What?"}, "nat_1"),
        ("A", "nat_1"),
        (["A"], "nat_1[0]"),
        ([{"model_response": "A"}], "nat_1[0]"),
        ([{"question": "What?", "model_response": {"a": 1}}], "nat_1[0].model_response"),
    ],
)
def test_recorded_replies_of_another_form_are_refused(value: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        list(BENCHMARK.read_replies(rows(("nat_1", value)), Source.CAPTION))
    assert (caught.value.file, caught.value.line, caught.value.field) == ("replies.json", 1, field)
