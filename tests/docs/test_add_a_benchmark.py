"""The benchmark of docs/add-a-benchmark.md: it works, and the page quotes it."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
import yaml
from tests.docs.pages import blocks
from tests.fakes.examinations import driven, in_turn
from tests.fakes.sources import ROOT

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.benchmark import Benchmark
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.question import Answer, Ask, Failure, Item, Reply, Source
from caliper.core.rows import Row
from caliper.pipeline.asking.request import render
from caliper.ports.prompts import Template

PAGE = "add-a-benchmark.md"
EXAMPLE = ROOT / "src" / "caliper" / "local" / "example_benchmark"
MODULE = EXAMPLE / "caliper_mentions" / "benchmark.py"


def test_the_page_quotes_the_example() -> None:
    quoted = blocks(PAGE, "python")
    assert quoted
    text = MODULE.read_text("utf-8")
    assert [block for block in quoted if block not in text] == []


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    found: Benchmark = runpy.run_path(str(MODULE))["BENCHMARK"]
    return found


def row(things: Any = ("dog", "rug"), image: str = "a.jpg") -> Row:
    return Row("things.jsonl", 1, {"image": image, "things": list(things) if things else things})


def planned(benchmark: Benchmark, found: Row, repeats: int = 1) -> Item:
    (item,) = benchmark.plan([found], PlanRequest(settings={}, repeats=repeats))
    return item


def examined(
    benchmark: Benchmark, item: Item, caption: str | None, *batches: list[Answer], **settings: str
) -> tuple[Verdict, ...]:
    _, verdicts = driven(benchmark.examine(item, caption, settings), in_turn(*batches))
    return tuple(verdicts)


def test_a_refused_question_is_no_zero(benchmark: Benchmark) -> None:
    item = planned(benchmark, row())
    refusal = Failure(Reason.REFUSED, "no")
    verdicts = examined(benchmark, item, "A dog.", [Reply("yes"), refusal])
    assert [verdict.outcome for verdict in verdicts] == [Scored(1), Unscored(Reason.REFUSED)]


def test_an_unreadable_reply_is_asked_once_more(benchmark: Benchmark) -> None:
    item = planned(benchmark, row(["dog"]))
    verdicts = examined(benchmark, item, "A dog.", [Reply("perhaps")], [Reply("perhaps")])
    assert verdicts[0].outcome == Unscored(Reason.UNREADABLE)
    told = Reply("Yes, it does.")
    strict = examined(benchmark, item, "A dog.", [told], [told], reading="strict")
    assert strict[0].outcome == Unscored(Reason.UNREADABLE)
    (lenient,) = examined(benchmark, item, "A dog.", [told])
    assert (lenient.outcome, lenient.evidence.repaired) == (Scored(1), True)


@pytest.mark.parametrize("caption", [None, " "])
def test_without_a_caption_nothing_is_asked(benchmark: Benchmark, caption: str | None) -> None:
    verdicts = examined(benchmark, planned(benchmark, row(), repeats=2), caption)
    assert [verdict.outcome for verdict in verdicts] == [Unscored(Reason.NO_CAPTION)] * 4


def test_a_blank_caption_is_asked_about(benchmark: Benchmark) -> None:
    item = planned(benchmark, row(["dog"]))
    (verdict,) = examined(benchmark, item, " ", [Reply("no")], blank_caption="answer")
    assert verdict.outcome == Scored(0)


def test_a_broken_row_is_unscored_and_a_broken_file_is_refused(benchmark: Benchmark) -> None:
    item = planned(benchmark, row(None))
    assert item.questions[0].unscored is Reason.BAD_INPUT
    assert "things.jsonl:1: things" in item.questions[0].note
    with pytest.raises(InvalidInput, match="annotated twice"):
        list(benchmark.plan([row(), row()], PlanRequest(settings={})))


def test_payloads_come_back_and_newer_ones_are_refused(benchmark: Benchmark) -> None:
    (question, _) = planned(benchmark, row()).questions
    written = benchmark.encode(question.payload)
    assert benchmark.decode(written) == question.payload
    with pytest.raises(NewerSchema):
        benchmark.decode({**written, "schema": 2})
    with pytest.raises(InvalidInput):
        benchmark.decode({})


def test_recorded_replies_are_found_by_their_key(benchmark: Benchmark) -> None:
    item = planned(benchmark, row())
    told = Row("replies.jsonl", 1, {"item": "a.jpg", "question": 1, "response": "no"})
    recorded = dict(benchmark.read_replies([told], Source.CAPTION))
    assert recorded[benchmark.record_key(item, item.questions[1], 0)] == "no"


def test_people_read_it_in_words(benchmark: Benchmark) -> None:
    item = planned(benchmark, row())
    assert benchmark.describe(item, item.questions[0]).question == "Does the caption mention dog?"
    outcomes = (Scored(1), Scored(0), Unscored(Reason.TIMEOUT))
    told = [benchmark.label(item.questions[0], outcome) for outcome in outcomes]
    assert told == ["mentioned", "not mentioned", "unscored"]


def test_the_template_has_exactly_the_gaps_that_are_filled(benchmark: Benchmark) -> None:
    written = (EXAMPLE / "caliper_mentions" / "prompts" / "mention.yaml").read_text("utf-8")
    template = Template(**{"system": "", **yaml.safe_load(written)})
    asks = next(benchmark.examine(planned(benchmark, row()), "A {thing}.", {}))
    assert isinstance(asks, tuple)
    assert isinstance(asks[0], Ask)
    (message,) = render(template, asks[0].fields)
    assert message.content[0] == (
        "Caption:\nA {thing}.\n\nDoes this caption mention the following thing? dog\n"
        "Answer with yes or no and nothing else."
    )
