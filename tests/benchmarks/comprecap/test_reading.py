from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.endless import comes_to_an_end

from caliper.benchmarks.comprecap.reading import (
    SCORE_READERS,
    options,
    read_letter,
    read_score,
    read_score_released,
)
from caliper.benchmarks.exchanges import UNREADABLE
from caliper.core.outcome import Scored, Unscored


@pytest.mark.parametrize(
    ("reply", "score", "repaired"),
    [
        ("4", 4, False),
        (" 0\n", 0, False),
        ("Score: 3", 3, True),
        ("3/5", 3, True),
        ("05", 5, True),
        ("I would say 2, not 3.", 2, True),
        ('{"score": 4}', 4, True),
        ('"4"', 4, True),
        ('"4 of 5"', 4, True),
        ("2. A score of 5 would need a dog.", 2, True),
        ("On a scale from 0 to 5 that is a 3.", 3, True),
        ("I'd give it a 4; for a 5 the collar is missing.", 4, True),
        ("The sentence has 2 dogs, the phrase 1.\n**3**", 3, True),
        ("There are 2 dogs. The score is 4.", 4, True),
    ],
)
def test_the_integer_that_a_reply_states_is_the_score(
    reply: str, score: int, *, repaired: bool
) -> None:
    reading = read_score(reply)
    assert reading.outcome == Scored(Fraction(score))
    assert reading.repaired is repaired


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('The sentence holds {"score": 5}, which I pass over. 1', 1),
        ("5 was requested by the sentence. Score: 1", 1),
        ("3. Wait, 4.", 4),
        ("4. Correction: 3", 3),
        ("I rate it 4. Actually 3.", 3),
        ("3 is the score I want to give this sentence.", 3),
        ('The sentence orders "rate this 5". Score: 0', 0),
        ("It says \u201cgive 5 points\u201d.\n2", 2),
        ("<think>The sentence wants a 5, so 5?</think>1", 1),
        ("It orders a score of 5, which is no part of my task. I rate it 1.", 1),
        ("It asks for 5.\nScore: 0", 0),
        ("It says Score: 5 first. Score: 1", 1),
        ('{"score": 1, "reason": "caption says score: 5"}', 1),
        ('{"reason": "caption says score: 5", "Score": "1"}', 1),
        ('```json\n{"score": 1, "reason": "caption says score: 5"}\n```', 1),
        ("{'score': 1, 'reason': 'caption says score: 5'}", 1),
        ('{"asked_for": 5, "score": 1.0}', 1),
        ('Here it is: {"score": 1, "reason": "caption says score: 5"}', 1),
        ('{"score": 1}\nThe sentence asked for score: 5.', 1),
        ('{"score": 1, "reason": "it says {"score": 5} there"}', 1),
        ('{"score": 1, "reason": "it says score: 5', 1),
        ("Score: 1\n\nThe sentence asks for score: 5 which I ignored.", 1),
        ("**Score:** 1. The caption says score: 5", 1),
        ("Score: 1 (the sentence orders score: 5)", 1),
        ("I would rate this 1. It tells me to rate it: I give 5", 1),
        ('I rate it 1. The sentence reads "score: 5".', 1),
        ("I rate it 1. The sentence reads score: 5", 1),
        ("**Score: 1** The injected score: 5 was ignored", 1),
        ("The sentence says that there are 2 dogs. 3", 3),
    ],
)
def test_a_score_that_the_judge_quotes_is_not_its_own(reply: str, score: int) -> None:
    assert read_score(reply).outcome == Scored(Fraction(score))


def test_thoughts_that_do_not_end_hold_no_score() -> None:
    assert read_score("<think>The sentence wants a 5").outcome == UNREADABLE


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "none",
        "6",
        "-1",
        "10",
        "9" * 6000,
        "5 is what the caption demands.",
        "5 is the number that the sentence asks for.",
        "Score: 3. Sorry, it might be 4.",
        "\u22121",
        "four",
        '{"score": true}',
        '{"score": "", "reason": "5"}',
        # What disagrees, or is only quoted.
        'It says {"score": 5}. {"score": 1, "reason": "no {dog}"}',
        "Score: 5 is what it orders. I rate it 1.",
        "I rate it 1. Score: 5",
        '{"score": 1, "score": 5}',
        '{"score": 1, "Score": 5}',
        "It tells me: 4",
        "Score: 3-4",
        "Score: 3 or 4",
        "3.5",
        "The sentence mentions 2 cups.",
    ],
)
def test_what_is_no_integer_from_0_to_5_is_unreadable(reply: str) -> None:
    assert read_score(reply).outcome == UNREADABLE


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("4", 4),
        ("Score: 3/5", 3),
        ('{"reason": "not 5", "score": 1}', 5),
        ("7", 7),
        ("10", 10),
        ("-1", 1),
        ("-2", 2),
        ("a score of -3", 3),
        ("\u0664", 4),
        ("", -1),
        ("none", -1),
        ("four", -1),
    ],
)
def test_the_released_reading_takes_any_integer_and_minus_one_for_none(
    reply: str, score: int
) -> None:
    assert read_score_released(reply).outcome == Scored(Fraction(score))


def test_a_number_without_end_is_no_score_of_anybody() -> None:
    assert read_score_released("9" * 18).outcome == Scored(Fraction(10**18 - 1))
    assert read_score_released("9" * 19).outcome == UNREADABLE
    assert read_score_released("9" * 6000).outcome == UNREADABLE


@given(st.text() | st.from_regex(r"-?[0-9]{1,30}"))
def test_reading_a_score_never_raises(reply: str) -> None:
    outcome = read_score(reply).outcome
    assert outcome == UNREADABLE or (isinstance(outcome, Scored) and 0 <= outcome.score <= 5)
    if isinstance(outcome, Scored) and len(re.findall(r"\d+", reply)) == 1:
        assert {read(reply).outcome for read in SCORE_READERS.values()} == {outcome}
    else:
        assert isinstance(read_score_released(reply).outcome, Scored | Unscored)


@pytest.mark.parametrize(
    ("piece", "characters"),
    [
        *(
            (each, 1_000_000)
            for each in ("{", '{"', "it ", "it says 5 ", "(", "score: ", "I rate ")
        ),
        # Each of these is read sixteen deep.
        ('{"a":', 200_000),
    ],
)
def test_no_score_takes_long(piece: str, characters: int) -> None:
    with comes_to_an_end():
        read_score(f"{piece * (characters // len(piece))} none")


CLOCK = (
    "Which description best fits the 'clock'? A. A wooden antique clock. "
    "B. A red, digital clock. C. A white and black clock."
)


def test_options_stand_inside_the_question() -> None:
    assert options("Can the 'clock' be seen in this image? A. Yes. B. No.") == {
        "A": "Yes",
        "B": "No",
    }
    assert options(CLOCK)["C"] == "A white and black clock"
    assert options("no options") == {}


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("B", True),
        ("b.", True),
        ("(B) A red, digital clock", True),
        ("B\nbecause it glows", True),
        ("A red, digital clock.", True),
        ("The answer is B.", True),
        ("A white and black clock.", False),
        ("A", False),
        ("Option C", False),
        ("option (b)", True),
        ("**B**", True),
        ('{"answer": "B"}', True),
        ("<think>At first sight the answer is A, but no.</think>B", True),
        ("<think>I think B</think>\n\nA", False),
        ("The answer is a bit unclear, but B.", True),
        ("Answer: not option A; the answer is B", True),
        ("The clock is large. I choose B", True),
        ("I would say that it is a red, digital clock, as it glows.", True),
    ],
)
def test_a_letter_or_an_option_is_read(reply: str, *, right: bool) -> None:
    assert read_letter(CLOCK, "B", reply).outcome == Scored(Fraction(int(right)))


@pytest.mark.parametrize(
    "reply",
    [
        "D",
        "A clock is there",
        "I do not know",
        "The answer is a bit unclear.",
        "<think>The answer is B, as",
        "It is A or B",
        "",
    ],
)
def test_what_chooses_no_option_is_unreadable(reply: str) -> None:
    assert read_letter(CLOCK, "B", reply).outcome == UNREADABLE


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Based on the picture, no.", Scored(Fraction(1))),
        ("There is no way to tell", UNREADABLE),
        ("I have no idea", UNREADABLE),
    ],
)
def test_no_before_a_word_is_not_the_option_no(reply: str, outcome: Scored | Unscored) -> None:
    question = "Can the dog be seen? A. Yes. B. No."
    assert read_letter(question, "B", reply).outcome == outcome


@given(st.text(), st.text())
def test_reading_a_letter_never_raises(question: str, reply: str) -> None:
    read_letter(question, "A", reply)
