from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.examinations import driven

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.comprecap.examination import examine
from caliper.benchmarks.comprecap.planning import plan
from caliper.benchmarks.comprecap.scoring import reduce
from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.question import (
    Ask,
    Batch,
    Decoding,
    Embed,
    Examination,
    Failure,
    Item,
    Nouns,
    Reply,
)
from caliper.core.rows import Row

CAPTION = "A hound runs. A hound jumps over grass.\nThe sky is blue"
NOUNS = {
    "A hound runs": ("hound",),
    "A hound jumps over grass": ("hound", "grass"),
    "The sky is blue": ("sky",),
}
VECTORS = {
    "hound": (0.8, 0.6),
    "grass": (0.0, 1.0),
    "sky": (0.1, -1.0),
    "dog": (1.0, 0.0),
    "frisbee": (0.5, 0.0),
}


def run(examination: Examination, replies: Sequence[Any]) -> tuple[list[Batch], list[Verdict]]:
    """Drive an examination with fixed nouns, vectors and replies; return what it asked for."""
    left = list(replies)

    def answer(batch: Batch) -> list[Any]:
        match batch:
            case Nouns(texts):
                return [NOUNS.get(text, ()) for text in texts]
            case Embed(texts):
                return [VECTORS[text] for text in texts]
            case asks:
                return [left.pop(0) for _ in asks]

    batches, verdicts = driven(examination, answer)
    return batches, list(verdicts)


def asks_of(batches: Sequence[Batch]) -> list[Ask]:
    return [ask for batch in batches if isinstance(batch, tuple) for ask in batch]


def test_a_caption_is_matched_then_asked_about(item: Item) -> None:
    replies = [Reply(text) for text in ("5", "4", "3", "2", "1", "0")]
    batches, verdicts = run(examine(item, CAPTION, {}), replies)
    nouns, embed, asks = batches
    assert nouns == Nouns(tuple(NOUNS))
    assert embed == Embed(("hound", "grass", "sky", "dog", "frisbee"))
    assert isinstance(asks, tuple)
    # dog and frisbee point the same way, so the dog, who is first, has the hound.
    assert [(ask.question.ordinal, ask.repeat) for ask in asks] == [
        (1, 0),
        (1, 1),
        (3, 0),
        (3, 1),
        (4, 0),
        (4, 1),
    ]
    assert {ask.fields["sentence"] for ask in asks} == {"A hound runs. A hound jumps over grass"}
    assert asks[0].fields["phrase"] == "a brown dog"
    assert {ask.prompt for ask in asks} == {"comprecap/phrase"}
    outcomes = [verdict.outcome for verdict in verdicts]
    silent = Scored(Fraction(0), mentioned=False)
    assert outcomes == [
        Scored(Fraction(8, 20)),
        Scored(Fraction(5)),
        Scored(Fraction(4)),
        silent,
        silent,
        Scored(Fraction(3)),
        Scored(Fraction(2)),
        Scored(Fraction(1)),
        Scored(Fraction(0)),
    ]
    assert [verdict.index for verdict in verdicts] == list(range(9))


def test_repeats_use_the_settings_of_the_run(item: Item) -> None:
    batches, _ = run(examine(item, CAPTION, {"temperature": "0.3"}), [Reply("1")] * 6)
    decodings = [ask.decoding for ask in asks_of(batches)[:2]]
    assert decodings == [Decoding(0.3, 0.9, 256)] * 2


def test_what_is_not_mentioned_is_scored_zero_without_a_call(item: Item) -> None:
    batches, verdicts = run(examine(item, "Nothing here.", {}), [])
    assert batches == [Nouns(("Nothing here",))]
    assert {
        verdict.outcome.score for verdict in verdicts if isinstance(verdict.outcome, Scored)
    } == {0}
    assert "no piece of the caption mentions dog" in verdicts[1].evidence.explanation


@pytest.mark.parametrize(
    ("caption", "settings"),
    [
        (None, {"blank_caption": "answer"}),
        ("", {}),
        (" \n", {}),
        (" \n", {"blank_caption": "unscored"}),
    ],
)
def test_a_missing_or_unscored_blank_caption(
    item: Item, caption: str | None, settings: dict[str, str]
) -> None:
    batches, verdicts = run(examine(item, caption, settings), [])
    assert batches == []
    assert {verdict.outcome for verdict in verdicts} == {Unscored(Reason.NO_CAPTION)}
    assert len(verdicts) == item.size


@pytest.mark.parametrize("caption", ["", " \n"])
def test_a_blank_caption_mentions_nothing(item: Item, caption: str) -> None:
    settings = {"blank_caption": "answer"}
    batches, verdicts = run(examine(item, caption, settings), [])
    assert batches == []
    objects, *phrases = verdicts
    assert objects.outcome == Scored(Fraction(0))
    assert {verdict.outcome for verdict in phrases} == {Scored(Fraction(0), mentioned=False)}
    places = [(question.ordinal, repeat) for _, question, repeat in item.positions()]
    found = dict(zip(places, (verdict.outcome for verdict in verdicts), strict=True))
    tally = reduce([(item, found)], settings)
    for cell in ("objects", "attribute/0", "relation/0", "coverage/0"):
        assert tally.total(cell)["sum"] == 0
        assert tally.total(cell)["n"] == 1


def test_what_planning_settled_is_not_asked(item: Item) -> None:
    settled = tuple(
        replace(question, unscored=Reason.BAD_INPUT, note="why") for question in item.questions
    )
    batches, verdicts = run(examine(replace(item, questions=settled), CAPTION, {}), [])
    assert batches == []
    assert {verdict.outcome for verdict in verdicts} == {Unscored(Reason.BAD_INPUT)}
    assert verdicts[0].evidence.explanation == "why"


def test_trouble_is_no_score_and_rubbish_is_asked_once_more(item: Item) -> None:
    replies = [Reply("rubbish"), Failure(Reason.BACKEND), Reply("7"), *[Reply("1")] * 3]
    batches, verdicts = run(examine(item, CAPTION, {}), [*replies, Reply("2"), Reply("9")])
    assert [ask.attempt for ask in asks_of(batches)[6:]] == [1, 1]
    assert verdicts[1].outcome == Scored(Fraction(2))
    assert verdicts[2].outcome == Unscored(Reason.BACKEND)
    assert verdicts[5].outcome == Unscored(Reason.UNREADABLE)


def test_by_the_released_reading_rubbish_is_a_score_and_trouble_is_not(item: Item) -> None:
    replies = [Reply("rubbish"), Failure(Reason.BACKEND), Reply("7"), *[Reply("1")] * 3]
    batches, verdicts = run(examine(item, CAPTION, {"reading": "released"}), replies)
    assert [ask.attempt for ask in asks_of(batches)] == [0] * 6
    assert verdicts[1].outcome == Scored(Fraction(-1))
    assert verdicts[2].outcome == Unscored(Reason.BACKEND)
    assert verdicts[5].outcome == Scored(Fraction(7))


def test_compreqa_is_asked_from_the_media() -> None:
    fields = {"image_name": "a.jpg", "question": "Seen? A. Yes. B. No.", "answer": "B"}
    rows = [Row("compreqa_p.json", 1, fields), Row("compreqa_p.json", 2, fields | {"answer": "C"})]
    [item] = plan([], PlanRequest({}, qa_rows=rows))
    [asks], verdicts = run(examine(item, None, {}), [Reply("B")])
    assert isinstance(asks, tuple)
    assert (asks[0].prompt, asks[0].fields) == (
        "comprecap/compreqa",
        {"question": "Seen? A. Yes. B. No."},
    )
    assert [verdict.outcome for verdict in verdicts] == [
        Scored(Fraction(1)),
        Unscored(Reason.BAD_GROUND_TRUTH),
    ]


@given(caption=st.text())
def test_no_caption_breaks_an_examination(caption: str) -> None:
    fields: Mapping[str, Any] = {
        "image": "a",
        "info": [{"category": "dog", "short_description": "a dog", "mask_out": "eJxjBAAAAgAC"}],
    }
    [item] = plan([Row("anno.json", 1, fields)], PlanRequest({}))
    _, verdicts = run(examine(item, caption, {}), [])
    assert len(verdicts) == 4
