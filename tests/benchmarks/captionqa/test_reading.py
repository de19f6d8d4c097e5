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
        # A number is a place as a whole reply only.
        ("\nx 5\ny", None, False),
        ("The answer is B, not A", "B", False),
        ("The answer is a bit unclear, but B.", "B", True),
        ("I see the point, and the answer is (b)", "B", True),
        ("The caption says that the answer is B", None, False),
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
    place = READERS[reading](reply, shown, reply).place
    assert place is None or 0 <= place < len(shown)


@given(reply=REPLIES, shown=OPTIONS)
def test_repaired_tells_that_released_reads_otherwise(reply: str, shown: tuple[str, ...]) -> None:
    found = read_lenient(reply, shown)
    differs = found.place != read_released(reply, shown).place
    assert found.repaired is (found.place is not None and differs)


def test_deep_json_is_no_answer() -> None:
    assert read_lenient("[" * 100_000, SHOWN).place is None


@pytest.mark.parametrize(
    "reply",
    [
        'The caption orders "Answer: A".\nC',
        "A. red\nB. blue\nC. green\n\n**C**",
        "The caption says that the correct answer is A. The answer is C.",
        '<think>It orders Answer: A.</think>\n{"answer": "C"}',
        "Answer: C (the caption orders option B)",
        'It orders "Answer: B". I pick C',
        "It orders B. I'd go with C",
        "The answer is not B. It is C.",
        "The correct option is C, although the caption says the answer is B.",
        "C - the caption says that the answer is B",
        "The text tells the reader that the answer is A, but I choose C",
        '{"answer": "C", "note": "it says {"answer": "B"}"}',
    ],
)
def test_an_answer_that_the_reader_quotes_is_not_its_own(reply: str) -> None:
    assert read_lenient(reply, ("red", "blue", "green")).place == 2


@pytest.mark.parametrize(
    "reply",
    [
        'The caption holds {"answer": "A"}, which is no answer. {"answer": "C"}',
        '{"answer": "A"} is what it orders.\nAnswer: C',
        "The caption orders to answer A. C",
        '{"answer": "C", "answer": "A"}',
        '{"answer": "C", "Answer": "A"}',
        '["C", "A"]',
        '{"answer": "C"} {"answer": "A"}',
        "The answer is C. The answer is A.",
        "The answer is C. No, A.",
        "The correct answer is C.\nA",
        "B. green",
    ],
)
def test_answers_that_disagree_choose_nothing(reply: str) -> None:
    assert read_lenient(reply, ("red", "blue", "green")).place is None


@pytest.mark.parametrize(
    "reply",
    [
        "My answer: C. The caption tries to make me answer B.",
        "My answer: C, although the injected instruction said the answer is B",
        "My answer: C. Somebody wrote that the answer is B.",
    ],
)
def test_a_later_answer_of_others_never_wins(reply: str) -> None:
    assert read_lenient(reply, ("red", "blue", "green")).place in (2, None)


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("The caption does not mention a color.", ("red", "green", "blue")),
        ("The caption mentions a", SHOWN),
        ("There is a car", SHOWN),
        ("It appears to be a bedroom or a living room.", ("Bedroom", "Living room")),
        ("I don't know", tuple(f"option {letter}" for letter in "abcdefghi")),
        ("B or D", SHOWN),
        ("The answer is B or D", SHOWN),
        ("N/A", ("red", "green")),
        ("Vitamins A and C", ("iron", "zinc", "salt")),
        ("Vitamins A and C", ("Vitamin A", "Vitamin B", "Vitamin C")),
        ("It contains vitamin D.", ("iron", "zinc", "Vitamin C", "salt")),
        ("There is no snow", ("Snow", "Rain")),
        ("The answer is F", SHOWN),
        ("I would rather not say.", SHOWN),
        ("I won't answer that.", SHOWN),
        ("I refuse to answer.", SHOWN),
        ("2", ("One", "Three")),
    ],
)
def test_where_no_answer_is_given_none_is_read(reply: str, shown: tuple[str, ...]) -> None:
    assert read_lenient(reply, shown).place is None


@pytest.mark.parametrize(
    ("reply", "shown", "place"),
    [
        ("A. Red\nB. Blue\nC. Green\n\nThe answer is B.", ("Red", "Blue", "Green"), 1),
        ("A: Red is wrong. B: Blue is right.", ("Red", "Blue"), 1),
        ("It contains vitamin D.", ("iron", "Vitamin D", "zinc", "salt"), 1),
        ("2", ("Two", "One"), 0),
        ("3", ("red", "green", "blue"), 2),
        ("One man and one woman, so two.", ("One", "Two", "Three"), 1),
        ("$129.9", ("$12.90", "$129.90"), 1),
        ("\u7b54\u6848\u662fB", ("\u7ea2", "\u84dd"), 1),
        ("It is not red but blue.", ("red", "blue"), 1),
        ("It has 5\u33a1", ("4\u33a1", "5\u33a1"), 1),
        ('{"answer": "B", "response": "It is so."}', ("red", "green", "blue"), 1),
        ("Not B. It is C.", ("red", "green", "blue"), 2),
    ],
)
def test_clear_answers_are_read(reply: str, shown: tuple[str, ...], place: int) -> None:
    assert read_lenient(reply, shown).place == place


@pytest.mark.parametrize(
    "reply",
    [
        "The caption does not mention a color.",
        "It cannot be determined from the caption.",
        "The colour isn't specified.",
        "There is no information about the colour.",
        "The answer is not given.",
        "La descripci\u00f3n no especifica el color.",
        '{"answer": "not mentioned"}',
    ],
)
def test_cannot_in_words_is_the_option_where_it_is_offered(reply: str) -> None:
    assert read_lenient(reply, SHOWN).place == 4
    assert read_lenient(reply, SHOWN[:4]).place is None


def test_an_option_that_says_so_itself_is_chosen_by_its_words() -> None:
    assert read_lenient("Not visible", ("red", "Not visible", SHOWN[4])).place == 1


@pytest.mark.parametrize("piece", ["it ", "it says ", '"', "{", "(", "not ", "answer ", " ", "a'"])
def test_no_reply_takes_long(piece: str) -> None:
    with comes_to_an_end():
        read_lenient(f"the answer is {piece * (1_000_000 // len(piece))}", SHOWN)
