from __future__ import annotations

from collections.abc import Mapping

import pytest

from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.benchmarks.capability.reading import read_labels, read_score
from caliper.core.errors import InvalidInput
from caliper.core.question import Source
from caliper.core.rows import Row


def rows(task: str, *fields: Mapping[str, object]) -> list[Row]:
    return [Row(f"{task}.jsonl", line, row) for line, row in enumerate(fields, start=1)]


def test_captions_are_known_by_task_and_file_id() -> None:
    given = rows("event", {"file_id": "e1", "caption": "A dog."}, {"file_id": 2, "caption": None})
    assert list(BENCHMARK.read_captions(given)) == [("event/e1", "A dog."), ("event/2", None)]


@pytest.mark.parametrize(
    ("task", "fields", "line", "field"),
    [
        ("event", [{"file_id": "a", "caption": ""}, {"file_id": "a", "caption": ""}], 2, "file_id"),
        ("event", [{"caption": "A dog."}], 1, "file_id"),
        ("event", [{"file_id": "a"}], 1, "caption"),
        ("event", [{"file_id": "a", "caption": ["A dog."]}], 1, "caption"),
        ("events", [{"file_id": "a", "caption": "A dog."}], 1, "task"),
    ],
)
def test_broken_captions_are_refused(
    task: str, fields: list[dict[str, object]], line: int, field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        list(BENCHMARK.read_captions(rows(task, *fields)))
    assert (caught.value.file, caught.value.line, caught.value.field) == (
        f"{task}.jsonl",
        line,
        field,
    )


@pytest.mark.parametrize("lenient", [True, False])
def test_a_recorded_score_is_read_as_the_judge_gave_it(*, lenient: bool) -> None:
    row = {"file_id": "7", "score": "-1", "reason": 'it\'s "green"', "scene": "forest"}
    [(key, text)] = BENCHMARK.read_replies(rows("scene", row), Source.CAPTION)
    assert key == ("scene", "7", "0")
    read = read_score(text, lenient=lenient)
    assert read is not None
    assert (read.value, read.reason, read.repaired) == (-1, 'it\'s "green"', False)


@pytest.mark.parametrize("lenient", [True, False])
@pytest.mark.parametrize("pred", ["left", ["left"], "['left']"])
def test_a_recorded_category_is_read_as_the_judge_gave_it(*, lenient: bool, pred: object) -> None:
    given = rows("camera_movement", {"file_id": "7", "pred": pred})
    [(_, text)] = BENCHMARK.read_replies(given, Source.CAPTION)
    read = read_labels(text, ("left", "right"), lenient=lenient)
    assert read is not None
    assert (read.value, read.repaired) == (("left",), False)


@pytest.mark.parametrize(
    "response",
    [
        [1, "0", {"score": "-1"}],
        [{"score": 1}, {"score": "0"}, '{"score": -1}'],
        "[1, 0, {'score': '-1'}]",
    ],
)
def test_a_recorded_response_holds_one_reply_an_object(response: object) -> None:
    given = rows("dynamic_object_number", {"file_id": "v", "response": response})
    replies = dict(BENCHMARK.read_replies(given, Source.CAPTION))
    assert list(replies) == [("dynamic_object_number", "v", str(place)) for place in range(3)]
    read = [read_score(text, lenient=False) for text in replies.values()]
    assert [found and found.value for found in read] == [1, 0, -1]


def test_an_object_without_a_recorded_reply_has_none() -> None:
    """A null is no reply (Unscored(no_reply)), not one that cannot be read."""
    given = rows("dynamic_object_number", {"file_id": "v", "response": [None, 1]})
    assert list(BENCHMARK.read_replies(given, Source.CAPTION)) == [
        (("dynamic_object_number", "v", "0"), ""),
        (("dynamic_object_number", "v", "1"), '{"score": 1}'),
    ]


def test_a_recorded_row_without_an_answer_is_unreadable() -> None:
    [(_, text)] = BENCHMARK.read_replies(rows("scene", {"file_id": "7"}), Source.CAPTION)
    assert read_score(text, lenient=True) is None


def test_recorded_ids_occur_once() -> None:
    twice = rows("scene", {"file_id": "7", "score": 1}, {"file_id": "7", "score": 0})
    with pytest.raises(InvalidInput, match="occurs twice"):
        list(BENCHMARK.read_replies(twice, Source.CAPTION))


def test_recorded_answers_about_media_go_by_question_id() -> None:
    given = rows("scene", {"question_id": 12, "response": "B"}, {"question_id": 13})
    assert list(BENCHMARK.read_replies(given, Source.MEDIA)) == [
        (("qa", "scene", "12"), "B"),
        (("qa", "scene", "13"), ""),
    ]
