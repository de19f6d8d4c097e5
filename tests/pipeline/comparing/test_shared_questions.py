"""Differences over the questions that both runs have a score of."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.fakes import runs
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.analysis.compare import Difference, compare
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.report import Path
from caliper.pipeline.comparing.comparison import Differences, differences
from caliper.pipeline.comparing.flips import Questions
from caliper.pipeline.comparing.shared_questions import TalliedRun, shared_tallies, shares
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.verdict_log import StoreLog

MEDIA = 12
FOUND = {
    "capability": runs.sources(runs.scene_rows(MEDIA), {}),
    "captionqa": runs.sources(runs.choice_rows(2, 2), {}),
}
SIZE = MEDIA + 2 * 2
"""Scenes, then questions of CaptionQA."""
Scores = Sequence[int | None]
UNKNOWN = 9
"""Stands for a question without an outcome yet."""


async def tallied(scores: Scores, data: str = "d" * 64) -> TalliedRun:
    spec = runs.spec(runs.part("capability", data=data), runs.part("captionqa", data=data))
    plan = await runs.planned(spec, FOUND, MemoryStore())
    ledger = Ledger(SIZE, MemoryLog())
    ledger.merge(
        [
            Verdict(n, Unscored(Reason.NO_CAPTION) if score is None else Scored(Fraction(score)))
            for n, score in enumerate([*scores, *[1] * (SIZE - len(scores))])
            if score != UNKNOWN
        ]
    )
    log = cast("StoreLog", MemoryLog())
    return await TalliedRun.of(RunLedger(spec, plan.summary, plan.store, log, ledger, 0.0))


async def _compared(first: Scores, second: Scores, data: str) -> Differences:
    (found,) = await differences(await tallied(first), [await tallied(second, data)])
    return found


def compared(first: Scores, second: Scores, data: str = "d" * 64) -> Mapping[Path, Difference]:
    return asyncio.run(_compared(first, second, data))["capability"]


def figures(scores: Scores) -> dict[str, float | None]:
    """Recall, precision and F1 in percent; a precision of nothing mentioned is 0."""
    present = [score for score in scores if score is not None]
    right, hit = present.count(1), sum(score != 0 for score in present)
    return {
        "recall": 100 * right / len(present) if present else None,
        "precision": 100 * right / max(hit, 1) if present else None,
        "f1": 200 * right / (hit + len(present)) if present else None,
    }


SCORES = st.lists(st.sampled_from([1, 0, -1, None]), min_size=MEDIA, max_size=MEDIA)


@given(SCORES, SCORES, st.sets(st.integers(0, MEDIA - 1)))
@example([0] * MEDIA, [1] * MEDIA, set())
@example([None, 1] * 6, [1, None] * 6, set())
@example([1] * MEDIA, [-1] * 11 + [1], set(range(MEDIA)))
def test_silence_on_wrong_answers_changes_no_more_than_which_questions_are_shared(
    first: list[int | None], second: list[int | None], silent: set[int]
) -> None:
    second = [None if n in silent and score != 1 else score for n, score in enumerate(second)]
    both = [n for n in range(MEDIA) if first[n] is not None and second[n] is not None]
    before, after = (figures([side[n] for n in both]) for side in (first, second))
    found = compared(first, second)
    for name, own in figures(second).items():
        difference = found["tasks", "scene", name]
        assert difference.second == (own if own is None else pytest.approx(own))
        base, candidate = before[name], after[name]
        if base is None or candidate is None:
            assert difference.value is None
        else:
            assert difference.value == pytest.approx(candidate - base, abs=1e-9)
            assert difference.paired <= len(both)


def test_a_gap_of_one_benchmark_changes_nothing_of_another() -> None:
    first, second = [1, 0, -1] * 4, [1, 1, -1] * 4
    gap = compared([*first, None], [*second, 1, 0])
    assert gap == compared(first, second)
    assert not any(difference.leaves_out for difference in gap.values())


def test_a_question_without_an_outcome_yet_is_left_out_as_well() -> None:
    first, second = [1, 0, 1, 1] * 3, [1, 0, 1, 0] * 2 + [UNKNOWN] * 4
    for found, sign in ((compared(first, second), -1), (compared(second, first), 1)):
        recall = found["tasks", "scene", "recall"]
        assert recall.value == pytest.approx(sign * 25)
        assert recall.paired == 8


def test_runs_over_other_data_share_no_questions_and_leave_none_out() -> None:
    first, second = [1, 0, 1] * 4, [1, None, 1] * 4
    recall = compared(first, second, "e" * 64)["tasks", "scene", "recall"]
    assert recall.value == pytest.approx(100 - 100 * 2 / 3)


async def test_shares_are_of_the_questions_that_either_run_has_a_score_of() -> None:
    first = await tallied([None, None, 1, 1] + [1] * 8)
    second = await tallied([None, 1, 1, None] + [0] * 8)
    changes = await (await Questions.of(first.run)).changes(second.run, 0)
    assert changes.left_out == ({3}, {1})
    shared = await shared_tallies(first.run, second.run, changes.left_out)
    layout = benchmark("capability").report(second.totals["capability"], {})
    own = first.totals["capability"], second.totals["capability"]
    found = shares(layout.figures, own, shared["capability"])
    assert found["tasks", "scene", "f1"] == pytest.approx((10 / 11, 10 / 11))
    by_path = compare(layout.figures, *own, layout.figures, shared["capability"])
    assert by_path["tasks", "scene", "n_scored"].value == 0
    assert shares(layout.figures, own, None) == {}
