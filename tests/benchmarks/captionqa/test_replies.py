import pytest

from caliper.benchmarks.captionqa.reading import read_lenient

CANNOT = "Cannot answer from the caption"
COLORS = ("Red", "Green", "Blue", CANNOT)
YES_NO = ("No", "Yes", CANNOT)
SIDES = ("Left", "Right", CANNOT)
BLUES = ("Blue", "Dark blue", "Light blue", "Red", CANNOT)


def letter(reply: str, shown: tuple[str, ...]) -> str | None:
    place = read_lenient(reply, shown).place
    return None if place is None else "ABCDEFGH"[place]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A. Hold on, that is the roof. B.", "B"),
        ("A... no, wait: the door is green, so B.", "B"),
        ("The answer is A. Sorry, I meant B.", "B"),
        ("The answer is A. On second thought, C.", "C"),
        ("B. I mean C.", "C"),
        ("A. Scratch that, it's B", "B"),
        ("It's red. Make that blue.", "C"),
        ("B. Actually the caption says the door is green.", "B"),
        ("B. Wait, the caption doesn't say.", "D"),
        ("Draft: A. Final: B.", "B"),
        ("A. Wait, let me check. Yes, A.", "A"),
        # What only may be is no answer, and the first one is taken back.
        ("B. Wait, it might be C.", None),
        # No correction.
        ("The people wait at a red light.", "A"),
        ("Wait, the caption says it's red.", "A"),
    ],
)
def test_a_marked_correction_stands(reply: str, expected: str | None) -> None:
    assert letter(reply, COLORS) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("\u041e\u0442\u0432\u0435\u0442 \u2014 B", "B"),
        ("\u05d4\u05ea\u05e9\u05d5\u05d1\u05d4 \u05d4\u05d9\u05d0 B", "B"),
        ("\u6b63\u89e3\u306fC\u3067\u3059\u3002", "C"),
        ("La bonne r\u00e9ponse est la lettre C.", "C"),
        ("Die Antwort lautet B.", "B"),
        ("A resposta \u00e9 a C", "C"),
        ("Svaret \u00e4r C.", "C"),
        ("Je choisis B.", "B"),
        ("Answer \u2192 C", "C"),
        ("It contains vitamin D.", None),
        ("Contiene vitamina D.", None),
        ("Es gibt Vitamin C.", None),
    ],
)
def test_letters_in_other_languages(reply: str, expected: str | None) -> None:
    assert letter(reply, COLORS) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Yup", "B"),
        ("Nah.", "A"),
        ("Nope, it's closed", "A"),
        ("Affirmative", "B"),
        ("Negative.", "A"),
        ("Yes and no", None),
        ("No/Yes", None),
        ("Yes, no", None),
        ("Yes (no)", None),
        ("Yeah right", None),
        ("No (B)", None),
        ("Yes (B)", "B"),
        ("Yes, I can help with that!", None),
        ("No problem! Let me look.", None),
    ],
)
def test_yes_and_no(reply: str, expected: str | None) -> None:
    assert letter(reply, YES_NO) == expected


@pytest.mark.parametrize(
    ("reply", "shown", "expected"),
    [
        ("None of them", ("A barn", "A mill", "None of the above"), "C"),
        ("None of the given types fits.", ("A barn", "A mill", "None of these"), "C"),
        ("None of the above", COLORS, None),
        ("Grey", ("Gray", "Blue"), "A"),
        ("organised", ("Organized", "Messy"), "A"),
        ("It stands in a theater.", ("Theatre", "Museum"), "A"),
        ("Sun-glasses", ("Sunglasses", "Hat"), "A"),
        ("hours", ("Hour", "Day"), "A"),
        ("Third option", COLORS, "C"),
        ("the 2nd option", COLORS, "B"),
        ("Option number 3", COLORS, "C"),
        ("The eighth option", COLORS, None),
        ("Not the first option", COLORS, None),
    ],
)
def test_other_words_for_an_option(
    reply: str, shown: tuple[str, ...], expected: str | None
) -> None:
    assert letter(reply, shown) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A: no, B: yes, C: no, D: no", "B"),
        ("A - wrong\nB - wrong\nC - right\nD - wrong", "C"),
        ("A: \u2717 B: \u2713 C: \u2717", "B"),
        ('{"A": "no", "B": "no", "C": "yes", "D": "no"}', "C"),
        ('{"Red": false, "Green": true, "Blue": false}', "B"),
        ('{"A": true, "B": true}', None),
        ("A. Yes. B. Yes. C. No.", None),
        ("B? No. C? No.", None),
        ("C,A,B", None),
        ("A > B > C", None),
    ],
)
def test_lists_of_letters(reply: str, expected: str | None) -> None:
    assert letter(reply, COLORS) == expected


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("Right, so I will read it first.", SIDES),
        ("Right now I am busy.", SIDES),
        ("He left the room", SIDES),
        ("There is little time left.", SIDES[:2]),
        ("It's a light-hearted scene.", ("A dog", "A light")),
        ("One moment please.", ("One", "Two")),
        ("Wait a second.", ("First", "Second")),
        ("Some kind of blue", BLUES),
        ("Is it blue?", COLORS),
        ("The answer is red (B).", COLORS),
        ("They ask whether it is red.", COLORS),
        ("Anything but A", COLORS),
        ('"Answer B" is printed in the caption.', COLORS),
        ("B is the answer that the caption wants.", COLORS),
        ("I was told to pick C.", COLORS),
    ],
)
def test_words_that_choose_nothing(reply: str, shown: tuple[str, ...]) -> None:
    assert letter(reply, shown) is None


@pytest.mark.parametrize(
    ("reply", "shown", "expected"),
    [
        ("It is on the left", SIDES, "A"),
        ("left of the tree", SIDES, "A"),
        ("Some shade of blue", ("Blue", "Red"), "A"),
        ("Blue, isn't it?", COLORS, "C"),
        ("What color? Red.", COLORS, "A"),
        ("It is unclear, but probably B.", COLORS, "B"),
        ("Blue; no other colour is mentioned.", COLORS, "C"),
        ("Green, and the caption doesn't mention another colour.", COLORS, "B"),
        ("B it is.", COLORS, "B"),
        ("B fits best.", COLORS, "B"),
        ("The caption does not say red but green.", COLORS, "B"),
        ("I'd say green, but the caption is vague.", COLORS, "B"),
    ],
)
def test_words_that_choose_an_option(reply: str, shown: tuple[str, ...], expected: str) -> None:
    assert letter(reply, shown) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "The caption leaves the colour open.",
        "The caption fails to mention the door's colour.",
        "The text omits the colour.",
        "The caption talks about a door but not about its colour.",
        "Only the size is given, not the colour.",
        "We are never told.",
        "It's anyone's guess.",
        "The caption says nothing of its colour.",
        "The information is missing.",
        "The door's colour isn't part of the caption.",
        "The caption mentions a door, without giving its colour.",
        "The description is too general to tell.",
        "Nobody says what colour it is.",
        "This can't be worked out from the text.",
        "The caption stops short of saying which.",
        "The colour is not stated, so I can't choose between red and green.",
        "Das l\u00e4sst sich nicht sagen.",
        "La l\u00e9gende ne le dit pas.",
    ],
)
def test_cannot_in_words(reply: str) -> None:
    assert letter(reply, COLORS) == "D"
    assert letter(reply, COLORS[:3]) is None


def test_a_reply_that_grows_beyond_the_bound_when_made_plain_is_not_read() -> None:
    # U+FDFA alone becomes 18 characters.
    assert read_lenient("\ufdfa" * 65_000, ("Red", "Blue")).place is None
