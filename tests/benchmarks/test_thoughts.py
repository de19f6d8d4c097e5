"""Thoughts of models that mark them in other ways than <think> are no answer either."""

import pytest

from caliper.benchmarks.replies import answer_text

HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>"
MARKS = (
    *("<think>{}</think>", "<thinking>{}</thinking>", "<thought>{}</thought>"),
    *("<thoughts>{}</thoughts>", "<reasoning>{}</reasoning>", "<Thinking>{}</Thinking>"),
    *("[THINK]{}[/THINK]", "\u25c1think\u25b7{}\u25c1/think\u25b7", HARMONY),
)
THOUGHT = "The score is 1 if the caption names it. Maybe A."


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("thought", ["", THOUGHT])
def test_thoughts_are_skipped(marks: str, thought: str) -> None:
    assert answer_text(f"\n{marks.format(thought)}\nB").strip() == "B"


@pytest.mark.parametrize("marks", MARKS)
def test_thoughts_that_do_not_end_hold_no_answer(marks: str) -> None:
    assert answer_text(marks.partition("{}")[0] + THOUGHT) == ""


def test_several_thoughts_are_skipped() -> None:
    assert answer_text("<thinking>A?</thinking><reasoning>C?</reasoning>B") == "B"
    assert answer_text("<thinking>A?</thinking>C?</thinking>B") == "B"
    assert answer_text("<thinking>\u0130 A?</thinking>B") == "B"


@pytest.mark.parametrize(
    "reply", ["B. It says <thought>A</thought>", "<answer>B</answer>", "[THINKING] B", "<b>B</b>"]
)
def test_what_is_no_leading_thought_is_kept(reply: str) -> None:
    assert answer_text(reply) == reply
