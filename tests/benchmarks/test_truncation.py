"""A reply that its token limit cut off counts only if it had stated its verdict by then."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.fakes.examinations import driven

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.capability.reading import read_labels, read_score
from caliper.benchmarks.comprecap.reading import read_score as read_integer
from caliper.benchmarks.exchanges import UNREADABLE
from caliper.benchmarks.registry import benchmark
from caliper.benchmarks.truncation import certain_part
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.core.question import Batch, Embed, Nouns, Reply, Source
from caliper.core.rows import Row

TRUNCATED, ONE = Unscored(Reason.TRUNCATED), Scored(Fraction(1))
THINKING = (
    "Okay, let me think about the rubric. "
    "The score is 1 if the caption names the object correctly, and it"
)
SCENE = {"file_id": "1", "file_path": "1.jpg", "task": "scene", "annotation": "forest"}
MEDIA = {"question_id": 1, "question": "How many?", "file_path": "1.jpg", "task": "scene"}
MEDIA |= {"options": ["A. 1", "B. 10"], "answer": "A"}
INFO = {"category": "dog", "short_description": "a dog", "mask_out": "eJxjBAAAAgAC"}
PICTURE = {"image": "a", "info": [INFO]}
DOGS = {"image_name": "a.jpg", "question": "How many? A. 1. B. 10.", "answer": "A"}
COUNT = {"question": "How many?", "choices": ["1", "10"], "answer": "1"}
QUESTION = {"id": "nat_1", "questions": [COUNT], "image_paths": ["a.jpg"]}


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (THINKING, None),
        ("So, the score is 1 when the colour agrees. The annotation says", None),
        ("According to the rules, the score is -1 only if another is named, and", None),
        ("First, recall the scale: score 1 for correct, score -1 for wrong, score 0 for", None),
        ("I'd give this 1 if the count was right, but the caption says", None),
        ("Score: 1 = correct", None),
        ("The score is 1 only", None),
        ("The score is 1", None),
        ("The score is 1.", None),
        ("In doubt the score is 0. Here the caption", None),
        ('Possible outputs are {"score": "1"},', None),
        ('The output format is:\n```json\n{"score": "1"}\n```\nThe', None),
        ('{"score": "1", "reason": "it', None),
        ('{"score": "1"} Wait, the caption', None),
        ("1", 1),
        ("-1", -1),
        ('{"score": "1"}', 1),
        ("```json\n{'score': 0}\n```", 0),
        ('Sure!\n```json\n{"score": "-1"}\n```\nThe caption', -1),
        ('<think>1 or 0?</think>\n{"score": "0"}', 0),
        ("Score: 1\nReason: both are", 1),
        ("**Score: 1**", 1),
        ("The score is -1 because the caption", -1),
        ("Score: 0. The caption only", 0),
    ],
)
def test_scores(reply: str, score: int | None) -> None:
    found = read_score(reply, lenient=True, truncated=True)
    assert (found and found.value) == score


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("The sentence would have to mention the colour to earn a 5", None),
        ("To get a 5, the sentence", None),
        ("A 5 would require both. The sentence only mentions", None),
        ("On a scale where 5 is a perfect match,", None),
        ("The scale goes up to 5. Let me compare the", None),
        ("1. The sentence mentions the dog.", None),
        ("1. The sentence mentions the dog.\n2. It is brown.\nScore: 4\nThe", 4),
        ("Not a 5, since", None),
        ("Step 1: look at the", None),
        ("The person in the sentence is 5", None),
        ("The first dog is brown.\n2", None),
        ("It has a dog.\n2. ", None),
        ("5 - all agrees\n4 - most", None),
        ("If everything agreed, I would give 5. ", None),
        ("Score: 4", None),
        ("Score: 4.", None),
        ("Score: 4\nHmm, or rather, score: 2", None),
        ("5", 5),
        (" **3** ", 3),
        ("3.", 3),
        ("3/5", 3),
        ('{"score": 4}', 4),
        ('{"score": 4, "reason": "The sen', 4),
        ('{"rubric": {"score": 5, "meaning": "all', None),
        ("Score: 3/5", 3),
        ("Score: 3\n\nThe sentence", 3),
        ("The dog is brown.\n\n**Answer:** 4\n\nThe", 4),
        ("4, as the", 4),
        ("4, the sentence", 4),
        ("Score: 4, 3 or", None),
        ("Score: 4, if", None),
        ("4\nThe sentence has 2 of", 4),
        ("I'd give it a 4; for a 5 the collar", 4),
    ],
)
def test_integers(reply: str, score: int | None) -> None:
    expected = UNREADABLE if score is None else Scored(Fraction(score))
    assert read_integer(reply, truncated=True).outcome == expected


def test_labels() -> None:
    categories = ("up", "down")
    for reply in ('It may be {"pred": ["up"]} or', '["up", "do', "It moves up"):
        assert read_labels(reply, categories, lenient=True, truncated=True) is None
    for reply in ('{"pred": ["up"]}', "up", 'Sure.\n{"pred": ["up"]}\nThe camera'):
        found = read_labels(reply, categories, lenient=True, truncated=True)
        assert found is not None
        assert found.value == ("up",)


@pytest.mark.parametrize(
    ("reply", "options", "certain"),
    [
        ("There are 1", ["1", "10", "2"], "There are "),
        ("It costs $1", ["$1", "$15"], "It costs $"),
        ("The time is 1", ["1", "1:30"], "The time is "),
        ("There are 1", ["1 dog", "12 dogs"], "There are "),
        ("It is red", ["Red", "red and white"], "It is "),
        ("It says yes", ["yes, twice", "Yes"], "It says "),
        ("B. $1", ["$10", "$1"], "B. $"),
        ("There are 1", ["1", "2", "21"], "There are 1"),
        ("There are 11", ["1", "11"], "There are 11"),
        ("It is scarred", ["red", "red and white"], "It is scarred"),
        ("It is red.", ["red", "red and white"], "It is red."),
        ("1", ["1", "10"], "1"),
        ("<think>10?</think>\n1", ["1", "10"], "<think>10?</think>\n1"),
        ("It is ", ["", "red"], "It is "),
        ("", ["red"], ""),
    ],
)
def test_an_option_that_begins_another_is_not_certain(
    reply: str, options: list[str], certain: str
) -> None:
    assert certain_part(reply, options) == certain


def outcome(
    name: str, reply: str, data: list[Row], qa_rows: list[Row] | None = None, **settings: str
) -> Outcome:
    """The outcome of the last question about these rows, whose reply is cut off."""

    def answer(batch: Batch) -> list[Any]:
        match batch:
            case Nouns(texts):
                return [("dog",) for _ in texts]
            case Embed(texts):
                return [(1.0, 0.0) for _ in texts]
            case asks:
                return [Reply(reply, truncated=True) for _ in asks]

    *_, item = benchmark(name).plan(data, PlanRequest({}, repeats=1, qa_rows=qa_rows))
    caption = None if item.source is Source.MEDIA else "A dog."
    _, verdicts = driven(benchmark(name).examine(item, caption, settings), answer)
    found: Outcome = verdicts[-1].outcome
    return found


@pytest.mark.parametrize(("reply", "expected"), [(THINKING, TRUNCATED), ("1", ONE)])
def test_judges(reply: str, expected: Outcome) -> None:
    assert outcome("capability", reply, [Row("scene.jsonl", 1, SCENE)]) == expected
    assert outcome("comprecap", reply, [Row("anno.json", 1, PICTURE)]) == expected


@pytest.mark.parametrize(("reply", "expected"), [("There are 1", TRUNCATED), ("1", ONE)])
def test_readers(reply: str, expected: Outcome) -> None:
    assert outcome("captionqa", reply, [Row("f.json", 1, QUESTION)]) == expected
    assert outcome("comprecap", reply, [], [Row("compreqa_p.json", 1, DOGS)]) == expected
    media = [Row("scene.jsonl", 1, MEDIA)]
    assert outcome("capability", reply, [Row("scene.jsonl", 1, SCENE)], media) == expected


def test_the_released_readings_read_on_as_the_scripts_do() -> None:
    picture, question = Row("anno.json", 1, PICTURE), Row("f.json", 1, QUESTION)
    score = outcome("comprecap", "To get a 5, the", [picture], reading="released")
    assert score == Scored(Fraction(5))
    assert outcome("captionqa", "There are 1", [question], reading="released") == ONE
