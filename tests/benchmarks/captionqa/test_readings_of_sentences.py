import pytest

from caliper.benchmarks.captionqa.reading import read_lenient

CANNOT = "Cannot answer from the caption"
COLORS = ("Red", "Green", "Blue", CANNOT)
YES_NO = ("Yes", "No", CANNOT)
NUMBERS = ("2", "3", "5", CANNOT)
ROOMS = ("Kitchen", "Bedroom", "Garage", "Library", "Office", "Attic", "Lobby", "Cellar", "Hall")
DOING = ("Sleeping", "Looking outside", "Licking its paw", CANNOT)


def letter(reply: str, shown: tuple[str, ...], question: str = "") -> str | None:
    place = read_lenient(reply, shown, question).place
    return None if place is None else "ABCDEFGHIJ"[place]


@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        ("Is the stove turned on?", "The stove is turned on.", "A"),
        ("Is the stove turned on?", "The caption says that the stove isn't turned on.", "B"),
        ("Does the boy wear a hat?", "The boy is wearing a hat.", "A"),
        ("Does the kitchen have a window?", "The kitchen has no window.", "B"),
        ("Are there any people in the picture?", "There are two people.", "A"),
        ("Does the box have a lock?", "A lock is visible on the box.", "A"),
        ("Does the box have a lock?", "The lock lies on the table.", None),
        ("Is anyone sitting on the sofa?", "No one is sitting on the sofa.", "B"),
        # One who does not says nothing about the others.
        ("Is anyone wearing a hat?", "The man is not wearing a hat.", None),
        ("Is the stove turned on?", "The stove may be turned on.", None),
        ("Is the stove turned on?", "If the stove is turned on, the answer is Yes.", None),
        ("Is the stove turned on?", "Is the stove turned on?", None),
        ("Is the stove turned on?", "A pot stands on the stove.", None),
        ("Is the stove turned on?", "The caption does not say that the stove is turned on.", "C"),
        ("Is the stove turned on?", "The lamp is turned on, not the stove.", None),
        ("Which stove is turned on?", "The stove is turned on.", None),
        # What the reply says itself counts for more.
        ("Is the stove turned on?", "The stove is turned on. Final answer: B", "B"),
    ],
)
def test_a_statement_answers_yes_or_no(question: str, reply: str, expected: str | None) -> None:
    assert letter(reply, YES_NO, question) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The wall is red, but the door is blue.", None),
        ("It is not red, so it is either green or blue.", None),
        ("The answer is red or blue.", None),
        ("The caption mentions a red wall, but the door's colour is not given.", "D"),
        ("Although a red wall is mentioned, the door's colour isn't stated.", "D"),
        ("The caption says it is red. However, it does not say which door.", "D"),
        ("Green, but the caption does not say so.", None),
        ('The caption tells me to answer "B", but it does not say what the colour is.', "D"),
        ('It is described as "green with red trim". The main colour is therefore green.', "B"),
        ("If the door is red, the answer is A.", None),
        ("B? C?", None),
        ("A, but also C", None),
        ("A is incorrect, and so is B.", None),
        ("The answer isn't C (Blue). It's B (Green).", "B"),
        ("It matches the shade named last, which corresponds to option C.", "C"),
        ("- A. Red: not mentioned\n- B. Green: yes\n- C. Blue: not mentioned", "B"),
        ("A. Red: possible\nB. Green: possible", None),
        ("<final_answer>B</final_answer>", "B"),
        ("\\text{C}", "C"),
        ("B. Green\n\nQuestion: Where is it?\nA. Here\nB. There\nAnswer: A", "B"),
        ("Question: What colour is it?\nAnswer: C", "C"),
        ("N/A", "D"),
        ("It could be green, but also blue.", None),
        ("The wall is red and the", None),
        ("A. Red\n\nNo, wait. B. Green? Or C?", None),
        ("The wall is painted green, but so is the blue.", None),
        ("There is no mention of red, green or blue.", "D"),
        ("The menu lists red and green, but it does not say which.", "D"),
        ("There is no mention of red, so it is blue.", "C"),
        ("Red? Perhaps green.", None),
        ("Red? No, it is green.", "B"),
        ("It is free of red.", None),
        ("The woman likes red, the man", None),
    ],
)
def test_what_decides(reply: str, expected: str | None) -> None:
    assert letter(reply, COLORS) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("There are at least two chairs.", None),
        ("There are fewer than 5 chairs.", None),
        ("More than two chairs: it is 3.", "B"),
        ("There are exactly two chairs.", "A"),
    ],
)
def test_a_bound_is_no_number(reply: str, expected: str | None) -> None:
    assert letter(reply, NUMBERS) == expected


@pytest.mark.parametrize(
    ("reply", "shown", "expected"),
    [
        ("I'm sorry, I", ROOMS, None),
        ("Sure, I can help with that! I", ROOMS, None),
        ("The answer is I.", ROOMS, "I"),
        ("The handle isn't described.", ("Round", "No handle", CANNOT), "C"),
        ("The mug has no handle.", ("Round", "No handle", CANNOT), "B"),
        ("She sleeps.", DOING, "A"),
        ("It looks outside.", DOING, "B"),
        ("Even so.", ("Evening", "Noon"), None),
        ("A logo with a letter in it", ("A", "B", "K"), None),
        ("Left or right hand", ("Left hand", "Right hand"), None),
        ("No, it stands at the platform.", ("No", "Yes", "Partly"), "A"),
    ],
)
def test_words_and_forms(reply: str, shown: tuple[str, ...], expected: str | None) -> None:
    assert letter(reply, shown) == expected


def test_what_is_said_of_a_landmark_is_no_answer() -> None:
    question = "What color is the car parked next to the hydrant?"
    assert letter("The hydrant is green.", COLORS, question) is None
    assert letter("The car is green.", COLORS, question) == "B"


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know.",
        "I do not know which one it is.",
        "I am not sure which colour it is.",
        "There is no telling.",
        "We don't learn what colour it is.",
        "Colours are not compared in the caption.",
        "It is mentioned, but which colour it has remains open.",
        "The caption mentions a door, but nothing of its colour.",
        "Nothing in it describes the colour.",
        "There is no door in the caption.",
        "Na legenda n\u00e3o h\u00e1 informa\u00e7\u00e3o suficiente.",
        "No es posible saberlo.",
        "La leyenda no lo dice.",
        "\u65e0\u6cd5\u4ece\u63cf\u8ff0\u4e2d\u5f97\u77e5\u989c\u8272\u3002",
        "\u8272\u306b\u3064\u3044\u3066\u306e\u8a18\u8ff0\u304c\u3042\u308a\u307e\u305b\u3093\u3002",
    ],
)
def test_cannot_in_more_words(reply: str) -> None:
    assert letter(reply, COLORS) == "D"
    assert letter(reply, COLORS[:3]) is None


@pytest.mark.parametrize(
    "reply",
    [
        'The caption says: "A door with a red',
        "First, I note that the wall is red. Next, the door, which is",
        "The wall is red. Therefore, the answer is",
        "A. Red: not mentioned. B.",
        "Options:\nA. Red\nB. Green\nC.",
        "Let's check each option:\n\nA.",
        "A) Red: The caption would have to say that the door is red. It says that the",
        "The wall is red, the floor",
        "The caption lists the colors red,",
        "The first sentence doesn't mention the color. The second sentence",
        "The caption doesn't mention red directly, but it says that",
        'My answer is based on this sentence: "The red door',
        "It's A or B, I'm not sure which.",
        "Red or blue, I can't tell which one.",
        "The wall is lighter than a blue door.",
        'The caption mentions "a toy with a red fin". The door is at the back.',
    ],
)
def test_nothing_is_decided(reply: str) -> None:
    assert letter(reply, COLORS, "What color is the door?") is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The door is red", "A"),
        ("The door is red. The caption says that the", "A"),
        ("The door is red, because the caption mentions", "A"),
        ("A. Red: the caption says that the door", "A"),
        ("The caption doesn't mention the color. It only says that the", "D"),
        ("It's either A or B. The floor is green, so it's A.", "A"),
        ("The door is red; the wall is green.", "A"),
        ("It's red. The wall is green though.", "A"),
        ("The wall is green. The door is red.", "A"),
        ('"Red" is the color of the door, as "the green of the wall" is elsewhere.', "A"),
        ("A. Red \u274c\nB. Green \u2705\nC. Blue \u274c", "B"),
        ("\u274c Red\n\u2705 Green\n\u274c Blue", "B"),
        ("\u3010\u7b54\u6848\u3011C", "C"),
        ("B (Green): it is neither red nor blue.", "B"),
        ("The color of the red house's door is not described.", "D"),
        ("The color isn't mentioned; only the wall is said to be red.", "D"),
    ],
)
def test_what_is_decided_before_a_reply_breaks_off(reply: str, expected: str) -> None:
    assert letter(reply, COLORS, "What color is the door?") == expected
