import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.building.candidates import (
    AssessedCandidate,
    Candidate,
    CandidateDecision,
    assessed_lines,
    candidate_lines,
    read_assessed,
    read_candidates,
)
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row

CUP = Candidate.of(
    "cup.jpg", "What colour is the cup?", ("red", "blue"), "red", "Attribute - Color"
)
texts = st.text(min_size=1, max_size=20).filter(str.strip)


def rows(text: str) -> list[Row]:
    lines = enumerate(text.split("\n")[:-1], start=1)
    return [Row("candidates.jsonl", number, json.loads(line)) for number, line in lines]


@given(texts, texts, st.lists(st.text(max_size=9), min_size=2, max_size=6), texts, st.text())
def test_what_is_written_is_read(
    image: str, question: str, choices: list[str], answer: str, reason: str
) -> None:
    candidate = Candidate.of(image, question, choices, answer, "Top - Sub")
    assert list(read_candidates(rows(candidate_lines([candidate])))) == [candidate]
    assessed = [AssessedCandidate(candidate, CandidateDecision.REVIEW, (reason,))]
    assert read_assessed(rows(assessed_lines(assessed))) == assessed


def test_the_file_for_review_has_exactly_these_fields() -> None:
    (row,) = rows(assessed_lines([AssessedCandidate(CUP, CandidateDecision.ACCEPT)]))
    assert row.fields == {
        "id": CUP.id,
        "image": "cup.jpg",
        "question": "What colour is the cup?",
        "choices": ["red", "blue"],
        "answer": "red",
        "category": "Attribute - Color",
        "flags": [],
        "decision": "accept",
        "reasons": [],
    }


def test_an_id_follows_from_picture_question_choices_and_answer() -> None:
    other = Candidate.of("cup.jpg", CUP.question, ("red", "blue"), "red", "Spatial - Orientation")
    assert other.id == CUP.id
    assert Candidate.of("cup.jpg", CUP.question, CUP.choices, "blue", CUP.category).id != CUP.id
    assert Candidate.of("mug.jpg", CUP.question, CUP.choices, "red", "A - B").id != CUP.id


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"image": ""}, "image"),
        ({"choices": ["red"]}, "choices"),
        ({"choices": "red"}, "choices"),
        ({"choices": ["red", 3]}, "choices[1]"),
        ({"question": "x" * 2_001}, "question"),
        ({"decision": "perhaps"}, "decision"),
        ({"decision": "reject"}, "decision"),
    ],
)
def test_a_broken_row_is_named(change: dict[str, object], field: str) -> None:
    fields = asdict(CUP) | {"decision": "accept"} | change
    with pytest.raises(InvalidInput) as error:
        read_assessed([Row("candidates.jsonl", 7, fields)])
    assert (error.value.file, error.value.line, error.value.field) == ("candidates.jsonl", 7, field)


def test_a_candidate_appears_once() -> None:
    row = Row("candidates.jsonl", 1, asdict(CUP))
    with pytest.raises(InvalidInput, match="appears twice"):
        list(read_candidates([row, row]))
