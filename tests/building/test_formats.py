import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.building.questions import asked, distinct

from caliper.building.candidates import Candidate
from caliper.building.captionqa.formats import check_formats, fault, strip_prefixes, tidied


@pytest.mark.parametrize(
    ("choices", "bare"),
    [
        (("A. red", "B. blue"), ("red", "blue")),
        (("(a) red", "(b) blue", "(c) 3"), ("red", "blue", "3")),
        (("1) red", "2) blue"), ("red", "blue")),
        # No numbering of all options in order.
        (("A. red", "C. blue"), ("A. red", "C. blue")),
        (("A. red", "blue"), ("A. red", "blue")),
        (("3.5 m", "4.5 m"), ("3.5 m", "4.5 m")),
        (("1", "2"), ("1", "2")),
        # Times and decimal numbers are no numbering, even in order.
        (("1:30", "2:45"), ("1:30", "2:45")),
        (("1.5 m", "2.5 m"), ("1.5 m", "2.5 m")),
        (("1) 30", "2) 45"), ("30", "45")),
    ],
)
def test_letters_before_options(choices: tuple[str, ...], bare: tuple[str, ...]) -> None:
    assert strip_prefixes(choices) == bare


@pytest.mark.parametrize(
    "answer", ["B", "b.", "(B)", "B. blue", "blue", " Blue. ", "2"], ids=lambda answer: answer
)
def test_an_answer_that_means_an_option(answer: str) -> None:
    tidy = tidied(asked(choices=("A. red", "B.  blue"), answer=answer))
    assert (tidy.choices, tidy.answer) == (("red", "blue"), "blue")
    assert tidy == tidied(tidy)


def test_an_option_that_is_a_letter_is_meant_by_its_text() -> None:
    assert tidied(asked(choices=("B", "A"), answer="A")).answer == "A"


@pytest.mark.parametrize(("choices", "answer"), [(("3", "4", "5"), "2"), (("B", "C"), "A")])
def test_no_place_is_meant_among_numbers_and_letters(choices: tuple[str, ...], answer: str) -> None:
    assert fault(tidied(asked(choices=choices, answer=answer)))[0] == "answer is not an option"


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (asked(), ""),
        (asked("Colour?"), "no question"),
        (asked(choices=("red", "blue", "Red.")), "equal options"),
        (asked(answer="pink"), "answer is not an option"),
        (asked(choices=("red", "None of the above")), "option about the options"),
        (asked(choices=("red", "cannot be determined")), "option about the options"),
        (asked(choices=("red", "blue", "both A and B")), "option about the options"),
        (asked(choices=("red", "a red and b blue one"), answer="red"), ""),
        (asked("What does the caption say of the cup?"), "question about the test"),
        (asked("Which option names the red cup?"), "answer in the question"),
        (asked("Is the cup red or blue?"), ""),
        (asked("Is it reddish?"), ""),
        (asked("Is yes written on it?", choices=("Yes", "No"), answer="Yes"), ""),
        (asked(category="Appearance - Colour"), "category not in the taxonomy"),
    ],
)
def test_rules(candidate: Candidate, reason: str) -> None:
    assert fault(candidate, {"Appearance - Color"})[0] == reason


def test_the_same_question_twice() -> None:
    second = asked(choices=("A. red", "B. blue", "C. green", "D. white"), answer="A")
    # With another answer it is no copy: who is right is for the later steps.
    third = asked(answer="blue")
    fates = check_formats([asked(), second, third], {asked().category})
    assert [fate.dropped for fate in fates] == ["", "same question twice", ""]


@given(distinct())
def test_every_candidate_has_a_fate_and_what_stays_is_right(candidates: list[Candidate]) -> None:
    categories = {"A - a", "A - b"}
    fates = check_formats(candidates, categories)
    assert len(fates) == len(candidates)
    stayed = [fate.candidate for fate in fates if not fate.dropped]
    assert all(each.answer in each.choices and each.category in categories for each in stayed)
    # Done again, the rules find nothing.
    again = check_formats(stayed, categories)
    assert [fate.candidate for fate in again if not fate.dropped] == stayed


@given(st.text(), st.lists(st.text(), max_size=5), st.text())
def test_no_text_breaks_the_rules(question: str, choices: list[str], answer: str) -> None:
    check_formats([Candidate.of("a.jpg", question, choices, answer, "A - a")], {"A - a"})
