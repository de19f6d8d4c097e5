from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fakes.endless import comes_to_an_end

from caliper.benchmarks.capability.questions import ElementQuestion
from caliper.benchmarks.capability.rules import _CATEGORY, _OPEN, judge, judge_parsed
from caliper.benchmarks.captionqa.rules import choose
from caliper.benchmarks.comprecap.rules import rate_phrase
from caliper.lexical.text import parse

TASKS = (*_OPEN, *_CATEGORY)
# Every code point: control characters, right-to-left, emoji, lone surrogates.
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=200)
WORDS = """The a two Red dogs cat left of to , . ( camera pans tilts up zooms in not no without eye
level angle style realistic Barack Obama from the game text 3 7 is and which pair couple as it moves
n't can't"""
ODD = ('"', "'", "“", "”", "老王", "营业", "é", "🙂", "\u202e", "\ud800", "\x00")
PIECES = st.lists(st.sampled_from((*WORDS.split(), *ODD)), max_size=60).map(" ".join)
TEXT = ANYTHING | PIECES


@settings(max_examples=300, deadline=None)
@given(TEXT, TEXT, TEXT, st.sampled_from(TASKS))
@example("", "", "", "object_number")
@example("A dog", "2" * 60, "dog", "object_number")
@example("A dog", "\ud800", "\ud800", "OCR")
def test_a_judge_always_writes_a_reply_that_can_be_read(
    caption: str, element: str, thing: str, task: str
) -> None:
    answer = judge(ElementQuestion(task, element, thing), caption)
    reply = json.loads(answer.text)  # type: ignore[union-attr]
    if task in _CATEGORY:
        assert reply["pred"]
    else:
        assert reply["score"] in {"1", "0", "-1"}
        assert task in reply


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT, st.lists(TEXT, min_size=1, max_size=6))
def test_a_reader_always_names_a_shown_option(
    caption: str, question: str, options: list[str]
) -> None:
    assert choose(parse(caption), question, options) in "ABCDEF"[: len(options)]


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT)
def test_a_rating_is_between_0_and_5(sentence: str, phrase: str) -> None:
    assert 0 <= rate_phrase(parse(sentence), phrase) <= 5


@settings(max_examples=200, deadline=None)
@given(TEXT)
def test_what_parse_gives_runs_along_the_tokens(text: str) -> None:
    parsed = parse(text)
    size = len(parsed.words)
    for along in (parsed.meanings, parsed.sentence_of, parsed.quoted, parsed.negated):
        assert len(along) == size
    assert [at for low, high in parsed.sentences for at in range(low, high)] == list(range(size))


LONG = {
    "dots": "." * 300_000 + "x",
    "quotes": '"' * 300_000,
    "open quotes": "“a" * 150_000,
    "one word": "a" * 300_000,
    "one capital word": "A" * 300_000,
    "capitals": "A " * 150_000,
    "names": "the character Aa " * 18_000,
    "camera": "camera " * 42_000,
    "camera moves": "camera pans slowly to the " * 12_000,
    "one sentence of two things": "dog cat " * 38_000,
    "one sentence of sides": "dog left cat " * 22_000,
    "numbers": "two dogs and " * 22_000,
    "shared out": "each dog of two, another one, " * 10_000,
    "coloured": "the dog, it is red and has a blue coat, " * 7_500,
    "negations": "no " * 100_000,
    "no spaces": "老王面馆" * 75_000,
    "groups": "group of " * 33_000,
    "commas": ", " * 150_000,
    "combining": "a\u0301" * 150_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_300_kilobytes_come_to_an_end(text: str) -> None:
    with comes_to_an_end():
        # Long texts are not cached, and parsing takes longer than most rules.
        caption = parse(text)
        for task in TASKS:
            judge_parsed(ElementQuestion(task, "the dog is left of the cat", "dog"), caption)
            judge(ElementQuestion(task, text[:20_000], text[:20_000]), "dogs")
        choose(caption, "How many dogs are there?", ("two", "3", "cat"))
        choose(caption, "What color is the dog?", ("red", "blue cat"))
        rate_phrase(caption, "a red dog")
