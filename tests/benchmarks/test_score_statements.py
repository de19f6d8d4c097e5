"""Rubrics, conditions, questions and denials in a judge's reply are no verdicts."""

from fractions import Fraction

import pytest

from caliper.benchmarks.capability.reading import read_labels, read_score
from caliper.benchmarks.comprecap.reading import read_score as read_integer
from caliper.benchmarks.exchanges import UNREADABLE
from caliper.core.outcome import Scored


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("The score is 1 only if the caption names the object. The caption does not.", None),
        ("The score is 1 if the caption names it, -1 if it does not", None),
        ("Score: 1, if navy counts as blue", None),
        ("Score: **1** when the colours agree", None),
        ("score: 1 means correct. Here it is not.", None),
        ("Score: 1 = correct", None),
        ("Score: 1 (correct), 0 (not mentioned), -1 (wrong).", None),
        ("Score: 1 (correct), 0 (not mentioned), -1 (wrong).\n\nScore: -1", -1),
        ("The score is 1 for correct, -1 for wrong.", None),
        ("The highest score is 1. This caption deserves -1.", None),
        ("The highest possible score is 1. I rate it -1.", -1),
        ("- Score: 1 if right\n- Score: 0 if not mentioned\nIt is right.", None),
        ("Score: 1 for the right name, -1 otherwise. Score: -1", -1),
        ("If everything agreed, I would give it 1. I give it -1.", -1),
        ("The maximum score is 1.", None),
        ("The possible score is 1.", None),
        ("Max. score: 1. My score: 0", 0),
        ("Is the score: 1? No.", None),
        ("Final score: 1? No. Final score: -1", -1),
        ("I think the score is -1. But the final score is 1? No: -1.", -1),
        ("I give it a 1 out of 5", None),
        ("Score: 1%", None),
        ("Score: 1st", None),
        ("Score: 1,5", None),
        ('{"rubric": {"score": "1"}, "verdict": "-1"}', None),
        ('{"reason": {"score": 1}}', None),
        ('{"result": {"score": "1"}, "alternative": {"score": "0"}}', 1),
        ('{"answer": [{"score": "0"}]}', 0),
        ('{"scene": {"annotation": "a park", "score": "1"}}', 1),
        # Clear verdicts with the same words.
        ("Score: 1, if I had to choose.", 1),
        ("The score is 1. If it named another dog, it would be -1.", 1),
        ("Score: 1, only the colour is paler.", 1),
        ("The score is 1, if only barely.", 1),
        ("Score: 1, if anything.", 1),
        ("If we compare the colours, I would give this 1.", 1),
        ('{"final_answer": {"Score": "0"}}', 0),
        ('{"results": [{"score": "0"}]}', 0),
        ("Score: 1 (the maximum score is deserved)", 1),
        ("The caption does not name the dog, so the score is 0.", 0),
        ("It reaches the highest score. Score: 1", 1),
        ("Score: 1\n\nIf the caption named a cat, -1 would be right.", 1),
        ("Score: 1 (correct), as 2 of 2 dogs are named", 1),
    ],
)
def test_scores(reply: str, score: int | None) -> None:
    found = read_score(reply, lenient=True)
    assert (found and found.value) == score


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Max score: 5. Given: 2", 2),
        ("Maximum score: 5", None),
        ("The highest possible score is 5.", None),
        ("out of 5", None),
        ("out of a possible 5", None),
        ("The scale goes up to 5.", None),
        ("The score out of 5 is 2", 2),
        ("That makes 4 out of 5.", 4),
        ("The sentence does not deserve a 5.", None),
        ("I can't give it a 5", None),
        ("I cannot rate it 5", None),
        ("I don't think it is a 5.", None),
        ("Not 5", None),
        ("This is not a 5; it is a 2", 2),
        ("The jersey number is 5", None),
        ("Step 1: compare.", None),
        ("Score: 4? no, 2", 2),
        ("Score: 4 if it named the colour, otherwise 2", None),
        ("The score is 5 only if all agrees. The sentence has 2.", None),
        ("Score: 5 = perfect", None),
        ("0 = none, 5 = perfect", None),
        ("A score of 5 would mean that all agrees", None),
        ('{"score": "out of 5: 2"}', None),
        ('{"score": "4 or 5"}', None),
        ('{"score": "3-4"}', None),
        ('{"score": "5 (if all agrees)"}', None),
        ('{"score": 4.5}', None),
        ("3,5", None),
        ("5%", None),
        ('{"score": [2, 5]}', None),
        ('{"score": {"value": 3, "max": 5}}', None),
        # Clear verdicts with the same words.
        ('{"score": "4/5"}', 4),
        ('{"score": "4 out of 5"}', 4),
        ('{"score": " 4. "}', 4),
        ('{"score": 4.0}', 4),
        ("The sentence does not mention the collar so 3", 3),
        ("As the collar is not named I give it a 3", 3),
        ("I give it a perfect 5", 5),
        ("It earns the maximum score of 5.", 5),
        ("It deserves the maximum score: 5", 5),
        ("The integer number is 3", 3),
        ('{"score": "3 (in part)"}', 3),
        ("Perfect: 5", 5),
        ("If all agreed, it would score 5, but so I give it 3", 3),
        ("The number is 4", 4),
        ("I would say 2, not 3 or 4.", 2),
        ("Score: 4. If it named the collar, it would be 5.", 4),
        ("It would be 5 if the dog were brown. It is not, so 3.", 3),
        ("The score is 4, which means that most agrees.", 4),
    ],
)
def test_integers(reply: str, score: int | None) -> None:
    expected = UNREADABLE if score is None else Scored(Fraction(score))
    assert read_integer(reply).outcome == expected


def test_labels_inside_a_field_of_another_kind_count_for_nothing() -> None:
    known = ("up", "down")
    assert read_labels('{"example": {"pred": ["up"]}}', known, lenient=True) is None
    found = read_labels('{"answer": {"pred": ["up"]}}', known, lenient=True)
    assert found is not None
    assert found.value == ("up",)
