"""All analyses together, where there is little to analyse."""

import json
from dataclasses import asdict

import pytest
from tests.fakes.answer_sets import answer_set, question, run

from caliper.analysis.captionqa.analyses import NAMES, analyse
from caliper.analysis.captionqa.answers import AnswerSet

WORDS = {"nat_0": 3, "nat_1": 5}


def scoreless(prompt: str) -> AnswerSet:
    runs = (run("a", "----", "simple", "RRRR", WORDS), run("b", "----", prompt, "", WORDS))
    return answer_set(*runs, run("a", "----", prompt, "----"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "answers",
    [
        scoreless("short"),
        answer_set(run("a", "R"), run("b", "-")),
        answer_set(run("a", "R", on_image="R"), run("b", "R", on_image="W")),
        answer_set(run("a", "RW"), questions=[question(0, category=""), question(1, "document")]),
    ],
)
def test_nothing_is_made_up(answers: AnswerSet) -> None:
    found = analyse(answers, {("seed: 0 / 1",): answers}, draws=2)
    json.dumps(asdict(found), allow_nan=False)
    assert [getattr(found, name) is not None for name in NAMES] == [True] * 5


def test_runs_without_scores_have_no_gap_and_no_gain() -> None:
    found = analyse(scoreless("short"), {})
    assert found.gap.remark
    (change,) = found.prompts.changes
    assert (change.accuracy.value, change.coverage, change.categories) == (None, None, ())
    assert found.stability.subsets[0].same_best is None


def test_only_what_was_chosen() -> None:
    found = analyse(answer_set(run("a", "RW"), run("b", "WW")), {}, ("difficulty",))
    assert found.runs == ("a", "b")
    assert found.difficulty.domains[0].hard == 1
    assert found.stability is found.gap is found.prompts is found.errors is None
