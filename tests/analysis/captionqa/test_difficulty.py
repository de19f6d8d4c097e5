"""The levels of paper 17.1."""

from dataclasses import replace

import pytest
from tests.fakes.answer_sets import answer_set, question, run

from caliper.analysis.captionqa.difficulty import difficulty, level_of


@pytest.mark.parametrize(
    ("right", "level"),
    [(100, "easy"), (80.1, "easy"), (80, "medium"), (50, "medium"), (49.9, "hard"), (0, "hard")],
)
def test_levels(right: float, level: str) -> None:
    assert level_of(right) == level


def test_questions_by_the_share_of_models_that_are_right() -> None:
    # 5, 4, 3, 2 of five models are right, and nobody has a score on the last.
    rows = ("RRRR-", "RRRR-", "RRRW-", "RRWC-", "RWWW-")
    found = difficulty(answer_set(*(run(f"m{place}", row) for place, row in enumerate(rows))))
    (split,) = found.domains
    assert (split.easy, split.medium, split.hard, split.questions) == (1, 2, 1, 4)
    assert found.categories[0].category == "Spatial"
    assert (found.runs[3].easy, found.runs[3].medium, found.runs[3].hard) == (100, 50, 0)
    assert [(each.text, each.right) for each in found.hardest] == [("Question 3?", 40)]


def test_runs_of_one_model_and_repeats_count_with_their_means() -> None:
    again = replace(question(0), repeat=1)
    questions = [question(0), again, question(1)]
    runs = (run("a", "RWR"), run("a", "RWW", prompt="short"), run("b", "RRW"))
    found = difficulty(answer_set(*runs, questions=questions))
    # Question 0: models 50% and 100%; question 1: 50% and 0%.
    assert (found.models, found.domains[0].medium, found.domains[0].hard) == (2, 1, 1)


def test_one_model_says_nothing() -> None:
    found = difficulty(answer_set(run("a", "RW"), run("a", "RR", prompt="short")))
    assert found.domains == ()
    assert "two or more models" in found.remark
