import pytest

from caliper.benchmarks.captionqa.reading import read_lenient

COLORS = ("Red", "Blue", "Green", "Yellow", "Cannot answer from the caption")


def letter(reply: str) -> str | None:
    place = read_lenient(reply, COLORS, "What color is the car?").place
    return None if place is None else "ABCDE"[place]


@pytest.mark.parametrize(
    "reply",
    [
        "The answer would be A if the car were red.",
        "The answer would be A if",
        "The answer is A only if it is red.",
        "The answer would be Red if the car were red.",
        "Had it been red, the answer would be A.",
        "Had the caption named it, A.",
        "Were it red, the answer would be A.",
        "Unless it is red, A.",
        "A if it is red, B if it is blue.",
    ],
)
def test_what_only_holds_under_a_condition_is_no_answer(reply: str) -> None:
    assert letter(reply) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The answer would be A if it were red, but it is blue.", "B"),
        ("The answer would be A if it were red. The answer is B.", "B"),
        ("E, but if I had to guess, A.", "E"),
        ("E. But if I had to guess, A.", "E"),
        ("E, although if forced to choose, A.", "E"),
        ("If I had to guess, A.", "A"),
        ("It is unclear, but if I had to guess, A.", "A"),
        ("The answer would be A.", "A"),
        ("The answer is A, if the caption is right.", "A"),
        ("The car had been red, so the answer is A.", "A"),
        ("B. It would be A if it were red.", "B"),
    ],
)
def test_what_holds_without_one_is_the_answer(reply: str, expected: str) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize("key", ["error", "Warning", "exception", "question", "thought"])
def test_what_an_object_calls_no_answer_is_none(key: str) -> None:
    assert letter(f'{{"{key}": "A"}}') is None
    assert letter(f'{{"{key}": ["A"]}}') is None
    assert letter(f'{{"{key}": "insufficient information"}}') == "E"


@pytest.mark.parametrize("key", ["color", "answer_letter", "result"])
def test_the_only_value_of_an_object_is_the_answer(key: str) -> None:
    assert letter(f'{{"{key}": "A"}}') == "A"


@pytest.mark.parametrize("reply", ["A. Blue", "A: Blue", "B. Red", "B: Red"])
def test_a_letter_with_the_text_of_another_option_is_no_answer(reply: str) -> None:
    assert letter(reply) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A. Red", "A"),
        ("a red", "A"),
        ("A blue", "B"),
        ("B. Blue", "B"),
        ("A) Blue", "A"),
        ("B) Red", "B"),
    ],
)
def test_what_an_opening_letter_decides(reply: str, expected: str) -> None:
    assert letter(reply) == expected
