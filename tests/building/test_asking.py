"""The declaration of the model steps, without any model."""

import json
from typing import Any

import pytest
from hypothesis import given
from tests.building.questions import asked, candidates
from tests.fakes.examinations import driven, in_turn

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import INTERNAL, all_names, benchmark, benchmark_names
from caliper.building.asking.questions import ModelStep, answering_row, writing_row
from caliper.building.candidates import Candidate
from caliper.building.captionqa.validation import FLAGS
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import text_digest
from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.question import Answer, Ask, Failure, Item, Reply, Source
from caliper.core.rows import Row

BUILDING = benchmark("building")


def planned(row: dict[str, Any]) -> Item:
    (item,) = BUILDING.plan([Row("x.jsonl", 3, json.loads(json.dumps(row)))], PlanRequest({}))
    return item


def examined(item: Item, *batches: list[Answer]) -> tuple[Verdict, ...]:
    _, verdicts = driven(BUILDING.examine(item, None, {}), in_turn(*batches))
    return tuple(verdicts)


def test_nobody_evaluates_on_it() -> None:
    assert set(all_names()) - set(benchmark_names()) == set(INTERNAL) == {"building"}


@given(candidates())
def test_payloads_are_read_as_written(candidate: Candidate) -> None:
    item = planned(answering_row(ModelStep.BLIND, candidate, votes=3))
    for question in item.questions:
        written = json.loads(json.dumps(BUILDING.encode(question.payload)))
        assert BUILDING.decode(written) == question.payload
        assert sorted(question.payload.options) == sorted(candidate.choices)


def test_a_payload_of_another_release_or_kind_is_refused() -> None:
    with pytest.raises(NewerSchema):
        BUILDING.decode({"schema": 2})
    for broken in ({}, {"schema": 1}, {"schema": 1, "step": "guess"}):
        with pytest.raises(InvalidInput):
            BUILDING.decode(broken)


def test_only_the_blind_model_is_shown_no_picture() -> None:
    blind = planned(answering_row(ModelStep.BLIND, asked(), votes=10))
    seeing = planned(answering_row(ModelStep.VALIDATE, asked()))
    writing = planned(writing_row("cup.jpg", ("A - a", "A - b"), 3))
    assert (blind.media, seeing.media, writing.media) == ((), ("cup.jpg",), ("cup.jpg",))
    assert {item.source for item in (blind, seeing, writing)} == {Source.MEDIA}
    assert [len(item.questions) for item in (blind, seeing, writing)] == [10, 1, 2]
    # Questions about a picture are one job, so that it is decoded once.
    assert (seeing.sample, writing.sample) == ("cup.jpg", "cup.jpg")
    assert len({question.payload.permutation for question in blind.questions}) > 1


def test_an_answer_is_an_option_or_a_flag() -> None:
    item = planned(answering_row(ModelStep.VALIDATE, asked()))
    options = item.questions[0].payload.options
    assert options[-len(FLAGS) :] == FLAGS
    for text, score in (("red", 1), ("blue", 0), (FLAGS[0], 0)):
        (verdict,) = examined(item, [Reply("ABCDEFGH"[options.index(text)])])
        assert verdict.outcome == Scored(score)
        assert verdict.evidence.explanation == text


def test_a_reply_that_was_cut_is_no_number_that_may_go_on() -> None:
    candidate = asked(choices=("1", "10"), answer="1")
    item = planned(answering_row(ModelStep.BLIND, candidate, votes=1))
    for truncated, outcome in ((False, Scored(1)), (True, Unscored(Reason.TRUNCATED))):
        reply: Answer = Reply("There are 1", truncated)
        (verdict,) = examined(item, [reply], [reply])
        assert verdict.outcome == outcome


@pytest.mark.parametrize(
    ("step", "fenced"),
    [(ModelStep.MERGE, True), (ModelStep.MISLEAD, True), (ModelStep.ANNOTATE, False)],
)
def test_what_models_said_before_is_no_instruction(step: ModelStep, fenced: bool) -> None:
    said = "OCR:\n- STOP\n- Everything above is the same."
    item = planned(writing_row("cup.jpg", ("OCR",), 3, step, [said]))
    (request,) = next(BUILDING.examine(item, None, {}))
    assert isinstance(request, Ask)
    assert (request.untrusted, request.fence) == (
        ("text", text_digest(said)) if fenced else ("", "")
    )


def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    item = planned(writing_row("cup.jpg", ("A - a",), 3))
    (verdict,) = examined(item, [Reply("no")], [Reply("again")])
    assert verdict.outcome == Unscored(Reason.UNREADABLE)
    (verdict,) = examined(item, [Reply("no")], [Reply('{"questions": []}')])
    assert verdict.outcome == Scored(0)
    (verdict,) = examined(item, [Failure(Reason.TIMEOUT)])
    assert verdict.outcome == Unscored(Reason.TIMEOUT)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"step": "guess"}, "step"),
        (writing_row("cup.jpg", (), 3), "categories"),
        (writing_row("cup.jpg", ("A - a",), 11), "most"),
        (answering_row(ModelStep.BLIND, asked(), votes=0), "votes"),
        (answering_row(ModelStep.BLIND, asked(choices=("red",))), "choices"),
    ],
)
def test_a_broken_row_is_named(row: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        planned(row)
    assert (error.value.file, error.value.line, error.value.field) == ("x.jsonl", 3, field)


def test_reports_count_replies() -> None:
    item = planned(answering_row(ModelStep.BLIND, asked(), votes=2))
    outcomes = {(0, 0): Scored(1), (1, 0): Unscored(Reason.UNREADABLE)}
    tally = BUILDING.reduce([(item, outcomes)], {})
    found = {
        figure.path[0]: figure.statistic({cell: tally.total(cell) for cell in figure.cells})
        for figure in BUILDING.report(tally, {}).figures
    }
    assert found == {"answered": 1, "right": 1}
