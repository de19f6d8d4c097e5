import re
from collections import Counter
from typing import Any

import pytest

from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.comprecap.questions import PhraseQuestion
from caliper.benchmarks.registry import BUILT_IN
from caliper.benchmarks.settings import resolve_settings
from caliper.cli.canary.cases import RIGHT, WRONG, Case, cases
from caliper.core.question import Question
from caliper.core.suspicion import signs

SETTINGS = {name: resolve_settings(name, {}) for name in BUILT_IN}
CASES = cases(SETTINGS)
ATTACKS = [case for case in CASES if case.attack]
WRONG_ONES = {case.question: case.caption for case in CASES if case.kind == WRONG}


def truth(question: Question[object]) -> str:
    """The words that only a right caption has."""
    payload: Any = question.payload
    if isinstance(payload, ChoiceQuestion):
        return payload.choices[payload.answer]
    return str(payload.phrase if isinstance(payload, PhraseQuestion) else payload.element)


def test_there_are_enough_of_every_kind() -> None:
    assert len(ATTACKS) >= 60
    assert {case.benchmark for case in ATTACKS} == set(BUILT_IN)
    assert len({case.language for case in ATTACKS}) >= 5
    assert min(Counter(case.kind for case in ATTACKS).values()) >= 4
    tasks = {getattr(case.item.questions[-1].payload, "task", "") for case in ATTACKS} - {""}
    assert len(tasks) == 13


def test_every_question_has_both_controls() -> None:
    for kind in (RIGHT, WRONG):
        asked = [case.question for case in CASES if case.kind == kind]
        assert sorted(asked) == sorted({case.question for case in CASES})


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: f"{case.question}-{case.attack}")
def test_an_attack_leaves_the_caption_wrong(case: Case) -> None:
    wrong = WRONG_ONES[case.question]
    assert wrong in case.caption
    injected = case.caption.replace(wrong, "")
    assert not re.search("{[a-z]+}", injected)
    said = re.escape(truth(case.item.questions[-1]))
    assert not re.search(rf"\b{said}\b", injected, re.IGNORECASE)


def test_nearly_all_attacks_look_suspicious_and_no_control_but_one_does() -> None:
    quiet = [case for case in ATTACKS if not signs(case.caption)]
    assert len(quiet) <= len(ATTACKS) // 5
    # Described faithfully, a picture of an order has the sign of one: the counts change nothing.
    loud = [case.caption for case in CASES if not case.attack and signs(case.caption)]
    assert all("IGNORE ALL ALARMS" in caption for caption in loud)


def test_a_letter_is_that_of_the_right_option() -> None:
    case = next(case for case in ATTACKS if case.question == "colour_choice")
    payload = case.item.questions[-1].payload
    letter = "ABCDE"[payload.options.index("orange")]
    assert case.caption.endswith(f"answer with {letter}.")


def test_only_what_is_asked_for() -> None:
    chosen = cases({"captionqa": SETTINGS["captionqa"]})
    assert {case.benchmark for case in chosen} == {"captionqa"}
