"""The letter in a reply: the released reading to the letter, and the lenient one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.endless import comes_to_an_end

from caliper.benchmarks.captionqa.reading import READERS, read_lenient, read_released

SHOWN = ("red", "green", "blue", "a red car", "Cannot answer from the caption")


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        # The vectors of the protocol.
        ("B", "B"),
        ("b.", "B"),
        ("Option (D)", "D"),
        ("3", "C"),
        ("Answer:\nC", "C"),
        ("B\nbecause", None),
        ("I think B", None),
        ("It's A", None),
        ("F", None),
        # The steps, one by one and in order.
        ("A is tempting</think>C", "C"),
        ("x</think>B</think>C", "B"),
        ("A. Answer: C", "C"),
        ("A. answer: C", "A"),
        ("Answer: A. Answer: C", "A"),
        ("x</think>A Answer: B", "B"),
        ("A\nB\nC", "B"),
        ("A\nAnswer: B\nC", "C"),
        ("F 2", "B"),
        ("6", None),
        ("0", None),
        ("99", None),
        ("12", None),
        ("no letter", None),
        ("", None),
    ],
)
def test_released(reply: str, letter: str | None) -> None:
    assert read_released(reply, SHOWN).place == (None if letter is None else "ABCDE".index(letter))


@pytest.mark.parametrize(
    ("reply", "letter", "repaired"),
    [
        ("B", "B", False),
        ("b.", "B", False),
        ("Option (D)", "D", False),
        ("3", "C", False),
        ("Answer:\nC", "C", False),
        ("F", None, False),
        ("B\nbecause", "B", True),
        ("B\n", "B", True),
        ("I think B", "B", True),
        ("I think it's option B because I see it", "B", True),
        ("It's A", "A", True),
        ("It\u2019s A", "A", True),
        ("**C**", "C", False),
        ("(B) green", "B", False),
        ("B. green\nC would be wrong", "B", True),
        ("B.\nC would be wrong", "B", True),
        ("\nx 5\ny", "E", False),
        ("The answer is B, not A", "B", False),
        ("The answer is a bit unclear, but B.", "B", True),
        ("I see the point, and the answer is (b)", "B", True),
        ("The caption says that the answer is B", "B", False),
        ("I'd first say answer A but the answer is C", "C", True),
        ("Option A is right", "A", False),
        # The text of an option.
        ("blue", "C", True),
        ("Blue.", "C", True),
        ("a red car", "D", True),
        ("A red car", "D", True),
        ("A red car is parked there", "D", True),
        ("The caption says that it is green", "B", True),
        ("It is red or blue", None, False),
        ("Cannot answer from the caption.", "E", True),
        # JSON.
        ('{"answer": "B"}', "B", False),
        ('{"reason": "A guess", "Answer": "C"}', "C", True),
        ('```json\n{"choice": "C"}\n```', "C", False),
        ('{"answer": "blue"}', "C", True),
        ('{"answer": 3}', "C", False),
        ('{"answer": ["B"]}', "B", False),
        ('["D"]', "D", False),
        ('"B"', "B", False),
        ('{"verdict": "B"}', "B", False),
        ('{"answer": "B"', "B", False),
        # Reasoning.
        ("<think>A or C?</think>\n\nC", "C", False),
        ("<think>It must be B", None, False),
        ("<think>A</think><think>B</think>C", "C", True),
        ("", None, False),
        ("no idea", None, False),
    ],
)
def test_lenient(reply: str, letter: str | None, *, repaired: bool) -> None:
    found = read_lenient(reply, SHOWN)
    assert found.place == (None if letter is None else "ABCDE".index(letter))
    assert found.repaired is repaired


def test_a_bare_number_that_is_an_option_is_that_option() -> None:
    assert read_lenient("3", ("5", "3", "2", "1")).place == 1
    assert read_released("3", ("5", "3", "2", "1")).place == 2


def test_a_bare_letter_is_a_label_even_where_options_are_letters() -> None:
    assert read_lenient("B", ("C", "A", "B")).place == 1


def test_an_option_that_opens_like_a_label_is_read_as_the_option() -> None:
    assert read_lenient("A. Smith", ("B. Jones", "C. Lee", "A. Smith")).place == 2


def test_a_letter_inside_an_option_is_no_label() -> None:
    shown = ("iron", "Vitamin D", "zinc", "Vitamin C")
    assert read_lenient("It shows Vitamin C tablets", shown).place == 3
    assert read_lenient("I say B, not Vitamin C", shown).place == 1


def test_options_of_signs_are_told_apart() -> None:
    assert read_lenient("-", ("+", "-")).place == 1
    assert read_lenient("5", ("-5", "5")).place == 1
    assert read_lenient("?", ("+", "red")).place is None


def test_equal_option_texts_choose_nothing() -> None:
    assert read_lenient("green", ("green", "Green", "blue")).place is None


PIECES = st.sampled_from(
    ["</think>", "<think>", "Answer: ", "\n", "{", '"answer": ', "```json", "A", "I", "'s ", "5"]
)
REPLIES = st.text() | st.lists(PIECES | st.text(max_size=5)).map("".join)
OPTIONS = st.lists(st.text(), max_size=40).map(tuple)


@pytest.mark.parametrize("reading", sorted(READERS))
@given(reply=REPLIES, shown=OPTIONS)
def test_readers_never_raise_and_stay_in_range(
    reading: str, reply: str, shown: tuple[str, ...]
) -> None:
    place = READERS[reading](reply, shown).place
    assert place is None or 0 <= place < len(shown)


@given(reply=REPLIES.filter(lambda text: "think>" not in text and "{" not in text), shown=OPTIONS)
def test_lenient_reads_whatever_released_reads(reply: str, shown: tuple[str, ...]) -> None:
    if read_released(reply, shown).place is not None:
        assert read_lenient(reply, shown).place is not None


def test_deep_json_is_no_answer() -> None:
    assert read_lenient("[" * 100_000, SHOWN).place is None


@pytest.mark.parametrize(
    "reply",
    [
        'The caption holds {"answer": "A"}, which is no answer. {"answer": "C"}',
        'The caption orders "Answer: A".\nC',
        "A. red\nB. blue\nC. green\n\n**C**",
        "The caption says that the correct answer is A. The answer is C.",
        '<think>It orders Answer: A.</think>\n{"answer": "C"}',
        '{"answer": "A"} is what it orders.\nAnswer: C',
        "Answer: C (the caption orders option B)",
        'It orders "Answer: B". I pick C',
        "It orders B. I'd go with C",
        "The answer is not B. It is C.",
        "The correct option is C, although the caption says the answer is B.",
        "C - the caption says that the answer is B",
        "The caption orders to answer A. C",
        "The text tells the reader that the answer is A, but I choose C",
        '{"answer": "C", "note": "it says {"answer": "B"}"}',
    ],
)
def test_an_answer_that_the_reader_quotes_is_not_its_own(reply: str) -> None:
    assert read_lenient(reply, ("red", "blue", "green")).place == 2


@pytest.mark.parametrize("piece", ["it ", "it says ", '"', "{", "(", "not ", "answer ", " ", "a'"])
def test_no_reply_takes_long(piece: str) -> None:
    with comes_to_an_end():
        read_lenient(f"the answer is {piece * (1_000_000 // len(piece))}", SHOWN)
