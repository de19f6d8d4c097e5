"""Verdicts of the same captions, judged twice."""

import numpy as np
import pytest

from caliper.analysis.sequential import Measure, StopCheck, Unit, redraw

STRATA = ("ocr", "scene")
UNITS = [Unit(index, STRATA[index % 2], f"medium-{index // 4}") for index in range(2400)]
CHECK = StopCheck("average", dict.fromkeys(STRATA, 0.5), margin=0.03)
ALPHA = 0.05
REDRAWS = 200
BOUND = 0.1
"""Alpha, and three standard errors of so many redraws."""
Scores = dict[int, float | None]


def sittings(flips: float, stricter: float = 0.0) -> tuple[Scores, Scores]:
    draw = np.random.default_rng(4)
    right = draw.random(2400) < 0.7
    first, second = (right ^ (draw.random(2400) < flips) for _ in range(2))
    second &= draw.random(2400) >= stricter
    return tuple({i: float(one) for i, one in enumerate(side.tolist())} for side in (first, second))


@pytest.mark.parametrize("measure", [Measure.MEAN, Measure.PRECISION, Measure.F1])
def test_a_judge_that_flips_raises_few_alarms_even_at_the_margin(measure: Measure) -> None:
    check = StopCheck("average", CHECK.weights, measure, margin=0.03)
    verdicts = sittings(0.05)
    found = redraw(UNITS, check, verdicts, ALPHA, REDRAWS)
    assert found.questions == 2400
    assert found.changed == sum(verdicts[0][i] != verdicts[1][i] for i in range(2400))
    assert found.alarms == 0
    assert found.alarms_at_margin < BOUND
    assert found.passes_at_margin < BOUND
    assert found.drift > 0.05
    assert 0.01 < found.drawn < 0.9


def test_a_stricter_second_sitting_is_told_apart_as_drift() -> None:
    found = redraw(UNITS, CHECK, sittings(0.02, stricter=0.05), ALPHA, REDRAWS)
    assert found.difference == pytest.approx(-0.035, abs=0.01)
    assert found.drift < 0.01
    assert found.alarms_at_margin < BOUND


def test_verdicts_that_are_the_same_raise_nothing() -> None:
    first, _ = sittings(0.0)
    found = redraw(UNITS, CHECK, (first, dict(first)), ALPHA, REDRAWS)
    assert (found.changed, found.difference, found.drift) == (0, 0.0, 1.0)
    assert (found.alarms, found.alarms_at_margin) == (0, 0)


def test_questions_without_both_verdicts_are_left_out() -> None:
    first, second = sittings(0.05)
    second |= dict.fromkeys(range(100))
    assert redraw(UNITS, CHECK, (first, second), ALPHA, 10).questions == 2300
    with pytest.raises(ValueError, match="no questions of ocr"):
        redraw([unit for unit in UNITS if unit.stratum == "scene"], CHECK, (first, second), ALPHA)
