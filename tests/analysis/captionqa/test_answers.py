import numpy as np
import pytest
from tests.fakes.answer_sets import answer_set, question, run

from caliper.analysis.captionqa.answers import PooledChange, is_right, mean_change

DOMAINS = [question(place, "natural" if place < 3 else "document") for place in range(4)]


def test_the_overall_figure_is_the_mean_of_domains_or_questions() -> None:
    by_domain = answer_set(run("a", "RRW-"), run("b", "RWWC"), questions=DOMAINS)
    assert by_domain.overall(by_domain.scores) == pytest.approx([200 / 3, (100 / 3 + 30) / 2])
    by_question = answer_set(*by_domain.runs, questions=DOMAINS, reading="questions")
    assert by_question.overall(by_question.scores) == pytest.approx([200 / 3, 130 / 4])


def test_a_change_is_paired_over_pictures() -> None:
    answers = answer_set(run("a", "WWRR-R"), run("b", "RRRWR-"))
    pair = (is_right(answers.runs[0].scores), is_right(answers.runs[1].scores))
    cells = PooledChange.of([pair]).by_picture(answers, answers.domains)
    assert [dict(sums) for sums in cells["natural"].values()] == [
        {"change": 2, "questions": 2},
        {"change": -1, "questions": 2},
    ]
    found = mean_change(cells)
    assert found.value == 25
    assert (found.low, found.high) == (-100, 100)


def test_no_interval_where_no_picture_differs() -> None:
    answers = answer_set(run("a", "WWWW"), run("b", "RRRR"))
    cells = PooledChange.of([(np.zeros(4), np.ones(4))]).by_picture(answers, answers.domains)
    assert mean_change(cells) == type(mean_change(cells))(100.0)


def test_a_run_is_called_by_its_model_and_any_other_prompt() -> None:
    assert run("glm", "R").name == "glm"
    assert run("glm", "R", prompt="short").name == "glm, short"
