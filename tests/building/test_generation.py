import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.building.generation import read_questions

ENTRY = {"question": "How many cups?", "choices": ["1", "2"], "answer": "2"}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"questions": [ENTRY]}),
        json.dumps([ENTRY]),
        json.dumps(ENTRY),
        f"```json\n{json.dumps([ENTRY])}\n```",
        f"<think>[]</think>Here you are: {json.dumps([ENTRY])} Enjoy!",
        json.dumps([{"question": "How many cups?", "options": [1, 2], "answer": 2}]),
    ],
)
def test_questions_of_a_reply(reply: str) -> None:
    written = read_questions(reply, "cup.jpg", "Things - Count", 3)
    assert written is not None
    (candidate,) = written.candidates
    assert (candidate.question, candidate.choices) == ("How many cups?", ("1", "2"))
    assert (candidate.answer, candidate.category) == ("2", "Things - Count")
    assert (candidate.image, written.unusable) == ("cup.jpg", 0)


def test_nothing_to_ask_is_an_answer() -> None:
    written = read_questions('{"questions": []}', "cup.jpg", "A - a", 3)
    assert written is not None
    assert written.candidates == ()


@pytest.mark.parametrize("reply", ["", "I see a cup.", '{"questions": 3}', "{", "[" * 10_000])
def test_an_unreadable_reply(reply: str) -> None:
    assert read_questions(reply, "cup.jpg", "A - a", 3) is None


def test_malformed_entries_and_too_many_are_counted() -> None:
    entries = [ENTRY, {"question": "Why?"}, {**ENTRY, "choices": ["1"]}, ENTRY, ENTRY]
    written = read_questions(json.dumps(entries), "cup.jpg", "A - a", 2)
    assert written is not None
    assert (len(written.candidates), written.unusable) == (2, 3)


@given(st.one_of(st.text(), st.recursive(st.none() | st.text(), st.lists).map(json.dumps)))
def test_no_reply_breaks_it(reply: str) -> None:
    read_questions(reply, "cup.jpg", "A - a", 3)
