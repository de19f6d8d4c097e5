from __future__ import annotations

from typing import Any

import pytest

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.comprecap.planning import plan
from caliper.benchmarks.comprecap.rows import read_replies, record_key
from caliper.core.errors import InvalidInput
from caliper.core.question import Item, Source
from caliper.core.rows import Row


def reply(**fields: Any) -> Row:
    return Row("judge.jsonl", 1, {"image": "park.jpg", "kind": "attribute", "index": 0} | fields)


def test_recorded_replies_meet_their_questions(item: Item) -> None:
    rows = [
        reply(repeat=1, response="4"),
        reply(kind="relation", index=1, repeat=0, response=3),
        reply(kind="relation", index=0, repeat=0, response=None),
    ]
    found = dict(read_replies(rows, Source.CAPTION))
    assert found == {
        record_key(item, item.questions[1], 1): "4",
        record_key(item, item.questions[4], 0): "3",
    }


@pytest.mark.parametrize(
    "fields", [{"kind": "other"}, {"index": -1}, {"index": "one"}, {"index": True}, {"repeat": 0.5}]
)
def test_a_reply_to_no_question_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"judge.jsonl:1: "):
        list(read_replies([reply(**fields, response="1")], Source.CAPTION))


def test_two_replies_to_one_question_are_refused() -> None:
    with pytest.raises(InvalidInput, match="two replies"):
        list(read_replies([reply(response="1"), reply(repeat=0, response="2")], Source.CAPTION))


def test_compreqa_replies_count_within_their_kind() -> None:
    fields = {"image_name": "park.jpg", "question": "Seen? A. Yes. B. No.", "answer": "A"}
    rows = [Row(f"compreqa_{kind}.json", 1, fields) for kind in ("p", "cap", "cap")]
    [item] = plan([], PlanRequest({}, qa_rows=rows))
    replies = [reply(kind="p", response="A"), reply(kind="cap", index=1, response="B")]
    assert dict(read_replies(replies, Source.MEDIA)) == {
        record_key(item, item.questions[0], 0): "A",
        record_key(item, item.questions[2], 0): "B",
    }
