import pytest

from caliper.benchmarks.captionqa.reading import read_lenient
from caliper.benchmarks.comprecap.reading import read_letter
from caliper.benchmarks.exchanges import UNREADABLE
from caliper.core.outcome import Scored

CANNOT = "Cannot answer from the caption"
COUNTS = ("1", "12", "2", "22", CANNOT)


def chosen(reply: str, shown: tuple[str, ...]) -> str | None:
    place = read_lenient(reply, shown, "How many people are there?").place
    return None if place is None else shown[place]


@pytest.mark.parametrize(
    ("reply", "shown", "expected"),
    [
        ("twenty-two", COUNTS, "22"),
        ("There are twenty-two people.", COUNTS, "22"),
        ("There are Twenty two.", COUNTS, "22"),
        ("thirty-five", ("5", "35", "30", "3"), "35"),
        ("thirty", ("5", "35", "30", "3"), "30"),
        ("seventy five", ("5", "75", "70", "15"), "75"),
        ("Ninety-nine", ("9", "90", "99", "19"), "99"),
        ("35", ("Five", "Thirty-five", "Thirty"), "Thirty-five"),
        ("There are twenty-two.", ("Twenty", "Two", "Twelve"), None),
        ("twenty, two", ("22", "2", "20"), None),
    ],
)
def test_compound_numbers_are_read_as_a_whole(
    reply: str, shown: tuple[str, ...], expected: str | None
) -> None:
    assert chosen(reply, shown) == expected


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("five hundred", ("5", "500", "50")),
        ("There are two hundred people.", COUNTS),
        ("a hundred and five", ("5", "105", "100")),
        ("one hundred five", ("1", "5", "105")),
        ("two thousand", ("2", "2000", "20")),
        ("There are 2 million", COUNTS),
        ("two dozen", COUNTS),
        ("the year nineteen ninety", ("19", "1990", "90")),
        ("two-thirds", ("2", "3", "1")),
    ],
)
def test_a_part_of_a_number_is_none(reply: str, shown: tuple[str, ...]) -> None:
    assert chosen(reply, shown) is None


@pytest.mark.parametrize(
    ("reply", "shown", "expected"),
    [
        ("3 million", ("3", "3 million", "30"), "3 million"),
        ("Five hundred people.", ("Five", "Five hundred", "Fifty"), "Five hundred"),
        ("It is a two-story house.", ("One", "Two", "Three"), "Two"),
        ("There are two and the dozen eggs.", ("One", "Two", "Three"), "Two"),
        ("There are two.", COUNTS, "2"),
        ("There are 12 people", COUNTS, "12"),
    ],
)
def test_whole_numbers(reply: str, shown: tuple[str, ...], expected: str) -> None:
    assert chosen(reply, shown) == expected


def test_numbers_of_compreqa() -> None:
    question = "How many dogs are there? A. 5. B. 35. C. 500."
    assert read_letter(question, "B", "There are thirty-five dogs.").outcome == Scored(1)
    assert read_letter(question, "C", "five hundred").outcome == UNREADABLE
