"""Which checkpoint of a suite another one is compared with."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.suites import checkpoint

from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryState
from caliper.core.suites import Baseline
from caliper.pipeline.suites.baselines import BaselineChoice, choose_baseline

WHOLE: dict[str, Any] = {"is_complete": True}
PART: dict[str, Any] = {"saved": 900}
BETTER = {**PART, "is_improved": True}


def entry(
    step: int, headline: float, state: EntryState = EntryState.PASSED, **fields: Any
) -> CheckpointEntry:
    figure = EntryFigure("capability", "average.f1", headline, is_headline=True)
    new = CheckpointEntry.new("nightly", "v", checkpoint(step), f"{step}")
    return replace(new, state=state, figures=(figure,), asked=100, **fields)


LAST = CheckpointEntry.new("nightly", "v", checkpoint(9), "9")


def chosen(rule: str, *entries: CheckpointEntry) -> int | None:
    choice = choose_baseline(Baseline.parse(rule), LAST, [*entries, LAST])
    return None if choice.entry is None else choice.entry.checkpoint.step


@pytest.mark.parametrize("rule", ["previous", "best"])
def test_a_decided_checkpoint_that_is_clearly_better_is_the_next_baseline(rule: str) -> None:
    first, better = entry(1, 50, **WHOLE), entry(2, 60, **BETTER)
    assert chosen(rule, first, better) == 2
    # One as good is compared with the older one, which is judged in full, and within the margin.
    assert chosen(rule, first, better, entry(3, 61, **PART)) == 2
    assert chosen(rule, first, entry(3, 61, **PART)) == 1
    # A run that a cap cut is no baseline, nor is one whose gate found a loss.
    assert chosen(rule, first, entry(3, 61, EntryState.INCONCLUSIVE, **PART)) == 1
    assert chosen(rule, first, entry(3, 61, EntryState.FAILED, **BETTER)) == 1


def test_previous_is_the_last_one_and_best_the_one_with_the_highest_score() -> None:
    entries = entry(1, 50, **WHOLE), entry(2, 70, **BETTER), entry(3, 60, **WHOLE)
    assert chosen("previous", *entries) == 3
    assert chosen("best", *entries) == 2


@pytest.mark.parametrize("rule", ["pinned:rev2", "tag:good"])
def test_a_decided_checkpoint_that_is_named_is_a_baseline(rule: str) -> None:
    first, named = entry(1, 50, **WHOLE), entry(2, 40, EntryState.REGRESSED, **PART)
    named = replace(named, checkpoint=checkpoint(2, tags=("good",)))
    assert chosen(rule, first, named) == 2
    assert chosen(rule, first, replace(named, is_improved=True)) == 2


def test_a_pinned_checkpoint_that_ended_otherwise_is_missing() -> None:
    failed = entry(2, 40, EntryState.FAILED)
    choice = choose_baseline(Baseline.parse("pinned:rev2"), LAST, [failed, LAST])
    assert choice == BaselineChoice(missing="the pinned step-2 (rev2) is failed")
