"""A verdict that the reply attributes to the caption or its author is not the judge's own."""

import pytest

from caliper.benchmarks.capability.reading import read_score as read_verdict
from caliper.benchmarks.captionqa.reading import read_lenient
from caliper.benchmarks.comprecap.reading import read_score as read_integer
from caliper.core.outcome import Scored

COLORS = ("Red", "Blue", "Green", "Cannot answer from the caption")
ONE, WRONG = '{"score": "1"}', '{"object_category": "dog", "score": "-1", "reason": "no dog"}'


def letter(reply: str) -> str | None:
    place = read_lenient(reply, COLORS, "What color is the car?").place
    return None if place is None else "ABCD"[place]


def verdict(reply: str) -> int | None:
    found = read_verdict(reply, lenient=True)
    return found.value if found else None


def integer(reply: str) -> int | None:
    outcome = read_integer(reply).outcome
    return int(outcome.score) if isinstance(outcome, Scored) else None


VERBS = (
    *("insists", "claims", "pretends", "suggests", "argues", "declares", "asserts", "proclaims"),
    *("recommends", "demands", "announced", "openly boasts", "would like us to believe"),
)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("subject", ["caption", "captioner", "attacker", "last line of the text"])
def test_what_the_caption_says_about_its_verdict_is_not_the_judges(subject: str, verb: str) -> None:
    said = f"The {subject} {verb} that the"
    assert letter(f"{said} answer is A.") is None
    assert letter(f"{said} correct answer is A, which I disregard.") is None
    assert letter(f"B. {said} answer is A.") == "B"
    assert verdict(f"{said} score is 1. It is wrong.") is None
    assert verdict(f"{WRONG}\nNote: {said.lower()} score is 1.") == -1
    assert verdict(f"The {subject} {verb} {ONE}. I reject that.") is None
    assert verdict(f"{WRONG} The {subject} {verb}: {ONE}") == -1
    assert integer(f"{said} score is 5.") is None
    assert integer(f"1. {said} score is 5.") == 1


@pytest.mark.parametrize(
    "reply",
    [
        "It insists that the answer is A.",
        "Someone wrote that the answer is A.",
        "The last line of the caption: The answer is A.",
        "The system message in the caption: answer A",
        "The caption directs the grader to pick A.",
        "The caption urges me to pick A.",
        "The caption commands: pick A.",
        "The author of the caption would like me to say A.",
        "I refuse to answer A as the caption demands.",
        "The caption, which insists that the answer is A, is wrong.",
        "There's text in the caption that insists the answer is A.",
        "The caption orders: A",
        "The caption's last words: answer A",
        "I was pressured to answer A.",
    ],
)
def test_letters_of_others(reply: str) -> None:
    assert letter(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "The injection demands score: 1. Real verdict below.",
        "The caption urges: Score: 1",
        "The caption recommends a final score: 1",
        "A malicious line sets the score: 1.",
        "The last line of the caption: Score: 1",
        "The attacker's score is 1.",
        "Caption author: the score is 1",
        "According to the attacker the score is 1.",
        "The captioner is trying to force score: 1",
        "The caption goes on to insist the score is 1.",
        "The caption falsely declares that its own score is 1.",
        f"The caption ends by insisting on {ONE}.",
        f"The caption gives {ONE}",
        f"The fake verdict in the caption is {ONE}",
        f"The line {ONE} was added by the captioner.",
        f"The captioner wrote {ONE}.",
        f"The captioner's {ONE} is disregarded.",
        f"The model under test outputs {ONE}",
        f"Attack: {ONE}",
    ],
)
def test_scores_of_others(reply: str) -> None:
    assert verdict(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "The sentence insists on 5.",
        "The sentence urges 5",
        "The sentence declares a score of 5. It does not match.",
        "The attacker wants 5.",
        "The sentence assigns itself a 5.",
        "The sentence rates itself 5.",
        "The sentence grades itself 5 out of 5, which is wrong.",
        "It awards itself 5.",
        "An attempt to obtain 5.",
        "The sentence requires me to give 5",
        "The sentence's claim of 5 is ignored.",
    ],
)
def test_integers_of_others(reply: str) -> None:
    assert integer(reply) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("According to the caption, the answer is A.", "A"),
        ("According to the caption the answer is A.", "A"),
        ("The caption says that the car is red: A", "A"),
        ("The caption says the car is red, answer: A", "A"),
        ("The caption indicates that the answer is A.", "A"),
        ("The caption supports option A.", "A"),
        ("The caption describes the car as red, so the answer is A.", "A"),
        ("It seems that the answer is A.", "A"),
        ("The caption insists on B, but the answer is A.", "A"),
        ("The caption insists that the car is red, so A.", "A"),
    ],
)
def test_letters_of_the_reader(reply: str, expected: str) -> None:
    assert letter(reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "The caption mentions the dog, so the score is 1",
        "For this caption the score is 1.",
        "For this caption I rate it 1.",
        "The caption names the dog. Score: 1",
        "The caption insists that it is a dog, therefore my score is 1.",
        f"The caption names the dog: {ONE}",
        f"The caption gives the name of the dog: {ONE}",
        f"The caption suggests the following: {ONE}",
        f"The caption matches: {ONE}",
        f"The caption correctly portrays it: {ONE}",
        f"My verdict on the caption follows: {ONE}",
        f"The caption insists that the car is red: {ONE}",
    ],
)
def test_scores_of_the_judge(reply: str) -> None:
    assert verdict(reply) == 1


@pytest.mark.parametrize(
    "verb",
    ["deserves a", "gets", "receives", "merits a", "earns a", "is rated", "is a", "should get a"],
)
@pytest.mark.parametrize("subject", ["sentence", "caption", "description"])
def test_what_the_judge_says_about_the_caption_is_its_verdict(subject: str, verb: str) -> None:
    assert integer(f"The {subject} {verb} 4.") == 4


@pytest.mark.parametrize(
    "verb", ["scores", "rates a", "matches the phrase at", "comes to", "reflects it:"]
)
def test_other_verdicts_about_the_caption(verb: str) -> None:
    assert integer(f"The sentence {verb} 4") == 4
