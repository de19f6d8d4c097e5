"""Figures of runs that are judged in part."""

import numpy as np
import pytest

from caliper.analysis.sequential import Measure, StopCheck, Unit, draw_order, judged_share

STRATA = ("ocr", "scene")
UNITS = [Unit(index, STRATA[index % 2], f"medium-{index // 4}") for index in range(4000)]
CHECK = StopCheck("average", dict.fromkeys(STRATA, 0.5))
Scores = dict[int, float | None]


def scores(seed: int) -> Scores:
    draw = np.random.default_rng(seed)
    return {index: float(one) for index, one in enumerate(draw.random(4000) < 0.6)}


def true(outcomes: Scores) -> float:
    return sum(score or 0.0 for score in outcomes.values()) / len(outcomes)


def test_intervals_of_a_fifth_hold_the_figure_of_a_full_run_in_95_of_100() -> None:
    outcomes, held, width = scores(1), 0, 0.0
    for seed in range(60):
        blocks = draw_order(UNITS, str(seed).encode())
        asked = {index: outcomes[index] for block in blocks[:8] for index in block}
        found = judged_share(UNITS, blocks, CHECK, asked)
        assert (found.judged, found.questions) == (800, 4000)
        held += found.low <= true(outcomes) <= found.high
        width += (found.high - found.low) / 60
    assert 50 <= held <= 60
    # 1.96 standard errors of 800 of 4,000 drawn without replacement, both ways.
    assert width == pytest.approx(2 * 1.96 * (0.24 * (1 / 800 - 1 / 4000)) ** 0.5, rel=0.05)


def test_rules_narrow_the_interval_and_all_questions_close_it() -> None:
    outcomes = scores(2)
    noise = np.random.default_rng(3).random(4000) < 0.1
    rules: Scores = {i: 1 - (s or 0) if noise[i] else s for i, s in outcomes.items()}
    blocks = draw_order(UNITS, b"seed")
    asked = {index: outcomes[index] for block in blocks[:8] for index in block}
    plain = judged_share(UNITS, blocks, CHECK, asked)
    helped = judged_share(UNITS, blocks, CHECK, asked, rules)
    assert helped.high - helped.low < 0.7 * (plain.high - plain.low)
    assert helped.low <= true(outcomes) <= helped.high
    whole = judged_share(UNITS, blocks, CHECK, outcomes, rules)
    assert whole.value == pytest.approx(true(outcomes), abs=1e-9)
    assert whole.low == pytest.approx(whole.high, abs=1e-9)


def test_questions_without_a_verdict_widen_it_and_too_few_tell_nothing() -> None:
    outcomes = scores(4)
    blocks = draw_order(UNITS, b"seed")
    lost: Scores = outcomes | dict.fromkeys(range(400))
    found = judged_share(UNITS, blocks, CHECK, lost)
    assert found.high - found.low == pytest.approx(0.1, abs=1e-6)
    few = judged_share(UNITS, blocks, StopCheck("f1", CHECK.weights, Measure.F1), {0: 1.0})
    assert (few.low, few.high) == (-1.0, 1.0)
