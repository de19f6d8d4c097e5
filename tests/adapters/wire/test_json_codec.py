"""Messages of the stream as JSON."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.wire.json_codec import JsonCodec
from caliper.benchmarks.captionqa.payloads import ChoiceQuestion
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.outcome import Evidence, Reason, Scored, Unscored, Verdict
from caliper.core.question import Item, Question, Source
from caliper.core.run import SCHEMA
from caliper.ports.codec import CaptionJob, ExamineJob, Verdicts

CODEC = JsonCodec()
TEXTS = st.text(st.characters(exclude_categories=()), max_size=6)
PAYLOADS = st.builds(
    ChoiceQuestion,
    TEXTS,
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=3).map(tuple),
    st.integers(-1, 3),
    st.booleans(),
    st.lists(st.integers(0, 3), max_size=3).map(tuple),
)
QUESTIONS = st.builds(
    Question, st.integers(0, 99), PAYLOADS, st.integers(1, 5),
    st.none() | st.sampled_from(Reason), TEXTS,
)  # fmt: skip
ITEMS = st.builds(
    Item, st.just("captionqa"), TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(QUESTIONS, max_size=2).map(tuple), st.sampled_from(Source), st.integers(0, 10**9),
)  # fmt: skip
SOME_ITEMS = st.lists(ITEMS, min_size=1, max_size=2).map(tuple)
VERDICTS = st.builds(
    Verdict,
    st.integers(0, 10**9),
    st.builds(Scored, st.fractions(), st.booleans()) | st.builds(Unscored, st.sampled_from(Reason)),
    st.builds(Evidence, TEXTS, TEXTS, st.booleans()),
)


@st.composite
def examine_jobs(draw: st.DrawFn) -> ExamineJob:
    sample = draw(TEXTS)
    caption = draw(st.none() | st.builds(Caption, st.just(sample), TEXTS, st.booleans()))
    return ExamineJob(draw(TEXTS), "captionqa", sample, caption, draw(SOME_ITEMS))


@given(examine_jobs())
def test_an_examine_job_comes_back(job: ExamineJob) -> None:
    assert CODEC.read_examine_job(CODEC.write(job)) == job


@given(st.builds(CaptionJob, TEXTS, st.just("captionqa"), TEXTS, SOME_ITEMS))
def test_a_caption_job_comes_back(job: CaptionJob) -> None:
    assert CODEC.read_caption_job(CODEC.write(job)) == job


@given(
    st.builds(Verdicts, TEXTS, TEXTS, TEXTS, st.lists(VERDICTS, min_size=1, max_size=4).map(tuple))
)
def test_verdicts_come_back(verdicts: Verdicts) -> None:
    assert CODEC.read_verdicts(CODEC.write(verdicts)) == verdicts


def a_job() -> ExamineJob:
    payload = ChoiceQuestion(
        "natural", "A - B", "Who?", ("a", "b"), 0, has_cannot=True, permutation=(2, 0, 1)
    )
    item = Item("captionqa", "x", "x", "x.jpg", ("x.jpg",), (Question(0, payload),))
    return ExamineJob("r", "captionqa", "x", Caption("x", "text"), (item,))


READERS = (CODEC.read_caption_job, CODEC.read_examine_job, CODEC.read_verdicts)


def test_equal_messages_are_equal_bytes() -> None:
    assert CODEC.write(a_job()) == CODEC.write(a_job())
    assert json.loads(CODEC.write(a_job()))["schema"] == SCHEMA


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00", b"{", b"null", b"[]", b'"text"', b"3", b"{}", b'{"schema": null}',
     b'{"schema": "1"}', b'{"schema": 1}', b'{"schema": 1, "run": "r"}'],
)  # fmt: skip
def test_rubbish(read: Any, data: bytes) -> None:
    with pytest.raises(InvalidInput):
        read(data)


@pytest.mark.parametrize("read", READERS)
@given(data=st.binary(max_size=40))
def test_any_bytes(read: Any, data: bytes) -> None:
    with pytest.raises(InvalidInput):
        read(data)


@pytest.mark.parametrize("read", READERS)
def test_a_newer_message_is_refused_by_name(read: Any) -> None:
    with pytest.raises(NewerSchema, match=f"schema {SCHEMA + 1} by a newer Caliper"):
        read(json.dumps({"schema": SCHEMA + 1}).encode())


def test_a_newer_question_is_refused_by_name() -> None:
    written = json.loads(CODEC.write(a_job()))
    written["items"][0]["questions"][0]["payload"]["schema"] += 1
    with pytest.raises(NewerSchema):
        CODEC.read_examine_job(json.dumps(written).encode())


def test_verdicts_are_no_job() -> None:
    written = CODEC.write(Verdicts("r", "captionqa", "x", ()))
    with pytest.raises(InvalidInput, match="lacks items"):
        CODEC.read_examine_job(written)
    with pytest.raises(InvalidInput, match="lacks verdicts"):
        CODEC.read_verdicts(CODEC.write(a_job()))


WRONG: list[tuple[tuple[str | int, ...], Any]] = [
    (("items",), None),
    (("items",), 3),
    (("items",), []),
    (("items", 0), None),
    (("items", 0), "x"),
    (("items", 0, "benchmark"), "coco"),
    (("items", 0, "benchmark"), {}),
    (("items", 0, "questions"), 3),
    (("items", 0, "questions", 0), None),
    (("items", 0, "questions", 0, "payload"), None),
    (("items", 0, "questions", 0, "payload"), [1]),
    (("items", 0, "questions", 0, "unscored"), "bored"),
    (("items", 0, "source"), "dream"),
    (("caption",), "text"),
    (("caption",), {"words": 3}),
    (("caption",), [1, 2, 3, 4]),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_a_job_with_something_else_in_it(path: tuple[str | int, ...], value: Any) -> None:
    written = json.loads(CODEC.write(a_job()))
    place = written
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InvalidInput):
        CODEC.read_examine_job(json.dumps(written).encode())


@pytest.mark.parametrize(
    "verdicts",
    [None, 3, [None], ["x"], [{}], [{"index": 0}], [{"index": 0, "score": "1/0"}],
     [{"index": None, "score": "1"}], [{"index": 0, "unscored": "bored"}]],
)  # fmt: skip
def test_verdicts_with_something_else_in_them(verdicts: Any) -> None:
    written = json.loads(CODEC.write(Verdicts("r", "captionqa", "x", ())))
    with pytest.raises(InvalidInput, match=r"holds no verdict|lacks verdicts"):
        CODEC.read_verdicts(json.dumps({**written, "verdicts": verdicts}).encode())


def test_scores_stay_exact() -> None:
    verdict = Verdict(0, Scored(Fraction(10**30 + 1, 3 * 10**29)))
    written = CODEC.write(Verdicts("r", "captionqa", "x", (verdict,)))
    assert CODEC.read_verdicts(written).verdicts == (verdict,)
