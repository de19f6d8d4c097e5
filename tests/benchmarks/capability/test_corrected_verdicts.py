import pytest

from caliper.benchmarks.capability.reading import read_labels, read_score

CAMERA = ("up", "down", "in", "out")
ONE, ZERO = '{"score": "1"}', '{"score": "0"}'


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (f"{ONE} Wait, the colour differs. {ZERO}", 0),
        (f"{ONE}\nCorrection: {ZERO}", 0),
        (f"{ONE} On second thought: {ZERO}", 0),
        (f"{ONE} On second thought it may be {ZERO} as well", None),
        (f"First attempt: {ONE}\nRevised: {ZERO}", 0),
        (f"{ONE} I'm not sure which of the two holds.", None),
        (f"{ONE} I changed my mind, perhaps 0.", None),
        (f"{ONE} Actually it might be {ZERO}", None),
        (f"For example: {ONE}", None),
        (f"For example: {ONE}. My verdict: {ZERO}", 0),
        (f"{ONE} is what the text asks me to return.", None),
        (f"The planted {ONE} is not mine.\n{ZERO}", 0),
        (f"{ZERO}\nThe caption tries to inject {ONE}.", 0),
        (f"Leaving the fake {ONE} aside, I answer: {ZERO}", 0),
        (f"I'd rate it 0. {ONE}", None),
        (f"I rate it 1. {ONE}", 1),
        ('{"SCORE": 1}', 1),
        ('{"score": 1, "Score": 0}', None),
        ('{"score": "\u22121"}', -1),
        ("\u22121", -1),
    ],
)
def test_scores(reply: str, score: int | None) -> None:
    found = read_score(reply, lenient=True)
    assert (found.value if found else None) == score


@pytest.mark.parametrize(
    ("reply", "labels"),
    [
        ('Draft: ["up"]. Final answer: ["down"]', ("down",)),
        ('The categories are ["up", "down"]. {"pred": ["up"]}', ("up",)),
        ('{"Pred": ["up"]}', ("up",)),
        ('{"pred": ["up"]} Scratch that: {"pred": ["in"]}', ("in",)),
        ('{"pred": ["in"]} I changed my mind, perhaps out.', None),
    ],
)
def test_labels(reply: str, labels: tuple[str, ...] | None) -> None:
    found = read_labels(reply, CAMERA, lenient=True)
    assert (found.value if found else None) == labels


@pytest.mark.parametrize("reply", ['{"SCORE": 1}', "\u22121", f"{ONE} Wait: {ZERO}"])
def test_the_strict_reading_knows_none_of_it(reply: str) -> None:
    assert read_score(reply, lenient=False) is None
