from __future__ import annotations

from collections import Counter

import pytest

from caliper.analysis.label_sample import (
    Doubt,
    LabelUnit,
    confidence_of,
    doubts_of,
    draw_for_labels,
)
from caliper.core.report import VerdictRow

UNITS = [LabelUnit(f"q{place}", "task", place % 5 == 0) for place in range(500)]


def row(repeat: int, score: float, *, repaired: bool = False) -> VerdictRow:
    names = ("benchmark", "task", "item", "sample", "cluster")
    texts = ("q", "question", "expected")
    end = ("outcome", score, "", "", "reply", repaired, "judge")
    return VerdictRow(repeat, *names, (), *texts, repeat, *end)


@pytest.mark.parametrize(
    ("rows", "others", "doubts"),
    [
        ([row(0, 1.0)], [], []),
        ([row(0, 1.0)], [{0: 1.0}, {}], []),
        ([row(0, 1.0)], [{0: 1.0}, {0: 0.0}], [Doubt.JUDGES]),
        ([row(0, 1.0), row(1, 0.0)], [{0: 1.0}], [Doubt.REPEATS]),
        ([row(0, 1.0, repaired=True)], [{0: None}], [Doubt.JUDGES, Doubt.REPAIRED]),
    ],
)
def test_what_is_doubtful(
    rows: list[VerdictRow], others: list[dict[int, float | None]], doubts: list[Doubt]
) -> None:
    assert list(doubts_of(rows, others)) == doubts


def test_judges_outweigh_repeats_and_repeats_repairs() -> None:
    order = [list(Doubt), [Doubt.JUDGES], [Doubt.REPEATS, Doubt.REPAIRED], [Doubt.REPEATS], []]
    told = [confidence_of(doubts) for doubts in order]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 1)


def test_doubtful_questions_are_drawn_twice_as_often_with_their_probability() -> None:
    drawn = draw_for_labels(UNITS, 120, "run")
    doubtful = {unit.id for unit in UNITS if unit.is_doubtful}
    assert Counter(name in doubtful for name in drawn) == {True: 40, False: 80}
    assert {drawn[name] for name in drawn if name in doubtful} == {40 / 100}
    assert {drawn[name] for name in drawn if name not in doubtful} == {80 / 400}
    # Whoever stops early has seen a random part.
    early = list(drawn)[:60]
    assert 10 < sum(name in doubtful for name in early) < 30


def test_a_larger_sample_holds_the_smaller_and_each_run_has_its_own() -> None:
    small, large = (draw_for_labels(UNITS, size, "run").keys() for size in (60, 200))
    assert small < large
    assert draw_for_labels(UNITS, 60, "another").keys() != small
    assert len(draw_for_labels(UNITS, 900, "run")) == 500


def test_both_kinds_are_drawn_however_few() -> None:
    for doubtful in (1, 499):
        units = [LabelUnit(f"q{place}", "task", place < doubtful) for place in range(500)]
        drawn = draw_for_labels(units, 30, "run")
        kinds = Counter(unit.is_doubtful for unit in units if unit.id in drawn)
        assert kinds.total() == 30
        assert min(kinds[True], kinds[False]) == 1
        weights = sum(1 / share for share in drawn.values())
        assert weights == pytest.approx(500)
