from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files

import pytest
import yaml

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.benchmark import Benchmark
from caliper.benchmarks.comprecap.benchmark import BENCHMARK
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NewerSchema, UnknownName
from caliper.core.outcome import Reason, Scored, Unscored
from caliper.core.question import Item, Question
from caliper.core.rows import Row


@pytest.fixture
def choices() -> Item:
    fields = {"image_name": "a.jpg", "question": "Seen? A. Yes. B. No.", "answer": "A"}
    [item] = BENCHMARK.plan([], PlanRequest({}, qa_rows=[Row("compreqa_p.json", 1, fields)]))
    return item


def test_the_registry_knows_it() -> None:
    found: Benchmark = benchmark("comprecap")
    assert found is BENCHMARK
    assert (found.role, found.needs_language) == ("judge", True)


def test_payloads_survive_the_wire(item: Item, choices: Item) -> None:
    for question in (*item.questions, *choices.questions):
        written = json.loads(json.dumps(BENCHMARK.encode(question.payload)))
        assert BENCHMARK.decode(written) == question.payload


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ({"schema": 2, "type": "phrase"}, NewerSchema),
        ({"schema": 1, "type": "other"}, InvalidInput),
        ({"schema": 1, "type": "phrase", "kind": "attribute"}, InvalidInput),
        ({"type": "phrase"}, InvalidInput),
        ({"schema": 1, "type": "objects", "atoms": [{}]}, InvalidInput),
    ],
)
def test_what_is_no_payload_is_refused(written: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        BENCHMARK.decode(written)


def test_the_only_caption_prompt_is_the_printed_one() -> None:
    assert BENCHMARK.caption_prompt("pictures", "simple") == ("comprecap/caption", {})
    with pytest.raises(UnknownName, match="known: simple"):
        BENCHMARK.caption_prompt("pictures", "taxonomy")


def test_limits_count_pictures_and_compreqa_apart(item: Item, choices: Item) -> None:
    assert {BENCHMARK.group(item), BENCHMARK.group(choices)} == {"pictures", "compreqa"}


def labelled(item: Item, question: Question[object], *scores: int) -> list[str]:
    return [BENCHMARK.label(question, Scored(Fraction(score))) for score in scores]


def test_outcomes_have_words(item: Item, choices: Item) -> None:
    phrase = item.questions[1]
    assert labelled(item, phrase, 0, 4) == ["0 of 5", "4 of 5"]
    assert BENCHMARK.label(phrase, Scored(Fraction(0), mentioned=False)) == "not mentioned"
    assert BENCHMARK.label(phrase, Unscored(Reason.BACKEND)) == "unscored"
    assert labelled(item, item.questions[0], 0, 1) == ["not mentioned", "mentioned"]
    assert labelled(choices, choices.questions[0], 0, 1) == ["wrong", "correct"]


def test_questions_are_told_by_dimension(item: Item, choices: Item) -> None:
    questions = [(item, question) for question in item.questions]
    questions += [(choices, question) for question in choices.questions]
    told = [BENCHMARK.describe(*pair) for pair in questions]
    assert [one.dimension for one in told] == [
        "objects",
        "attribute",
        "attribute",
        "relation",
        "relation",
        "compreqa_p",
    ]
    assert told[0].expected == "dog, frisbee"


def test_the_judge_is_prompted_as_printed() -> None:
    prompts = files("caliper.benchmarks.comprecap") / "prompts"
    phrase = yaml.safe_load((prompts / "phrase.yaml").read_text("utf-8"))
    assert phrase["system"].startswith("You are a Natural Language Processing (NLP) expert. A cur")
    assert phrase["system"].endswith("reliable answers to help the human. ")
    assert phrase["user"] == (
        "Sentence: {sentence}. Phrase: {phrase}. Please provide an integer score as a single "
        "number from 0 to 5 without explanation. "
    )
