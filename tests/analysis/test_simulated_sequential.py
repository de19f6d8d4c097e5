"""Comparisons that stop, at the margin: how often they are wrong."""

from dataclasses import replace

import numpy as np
import pytest
from bench.sequential.paths import p_values, simulate
from bench.sequential.questions import ALPHA, SCORES, Controls, Scenario, drawn, questions
from bench.sequential.report import BASE, ERRORS
from tests.fakes.random_runs import PAIRS, at_most

from caliper.analysis.draw_order import BLOCKS, Unit
from caliper.analysis.sequential import (
    Finding,
    KnownScores,
    SequentialComparison,
    StopCheck,
    StopTarget,
)

NAIVE = 0.2
"""An error that is clearly more than alpha."""


@pytest.mark.parametrize("scenario", ERRORS, ids=lambda scenario: scenario.name)
def test_a_drop_of_the_margin_is_rarely_called_a_regression_or_passed(scenario: Scenario) -> None:
    found = simulate(scenario, PAIRS, 5)
    assert at_most(round(found.regressed * PAIRS), scenario.alarm)
    assert at_most(round(found.passed * PAIRS), ALPHA)


@pytest.mark.parametrize("controls", [Controls.BASELINE_RULES, Controls.RULES])
def test_a_comparison_finds_what_is_simulated(controls: Controls) -> None:
    """With rules, and with reused questions: the p-values of every look until it is decided."""
    scenario = replace(BASE, strata=4, size=200, gain=0.0, margin=0.05, reused=0.3)
    scenario, draw = replace(scenario, controls=controls), np.random.default_rng(3)
    kinds = drawn(questions(scenario, draw), scenario, 3, draw)
    values = np.minimum.accumulate(np.stack(p_values(scenario, kinds, draw)), axis=1)
    names = [f"task-{stratum}" for stratum in range(scenario.strata)]
    units = [
        Unit(place * scenario.strata + stratum, name, str(place))
        for place in range(scenario.size)
        for stratum, name in enumerate(names)
    ]
    asked = units[: scenario.asked * scenario.strata]
    blocks: list[list[int]] = [[] for _ in range(BLOCKS)]
    for place, unit in enumerate(asked):
        blocks[scenario.block_of[place // scenario.strata]].append(unit.index)
    target = StopTarget(0.05, ALPHA, (StopCheck("average", dict.fromkeys(names, 0.25)),))
    for path, side in enumerate(SCORES[kinds.swapaxes(1, 2).reshape(3, len(asked))]):
        columns = [dict(enumerate(map(float, column))) for column in side.T]
        # Those that are reused are right as often as the others.
        means = side[:, 0].reshape(-1, scenario.strata).mean(axis=0)
        rest = {one.index: float(means[one.index % scenario.strata]) for one in units[len(asked) :]}
        rules = columns[2:] if controls is Controls.RULES else columns[2:3]
        known = KnownScores(columns[0] | rest, rules, frozenset(rest), deterministic=True)
        comparison = SequentialComparison(units, blocks, target, known)
        for number in range(BLOCKS):
            look = comparison.look(columns[1], number + 1)
            found = look.checks[0].p_regressed, look.checks[0].p_passed
            assert found == pytest.approx(values[:, number, path, 0], rel=1e-6)
            if look.finding is not Finding.UNDECIDED:
                break
        assert look.finding is Finding.PASSED
        assert look.checks[0].reused == len(rest)


def test_a_judge_whose_noise_is_ignored_is_wrong_more_often() -> None:
    """The simulation can tell: flips that the estimate does not count raise errors."""
    noisy = replace(BASE, flips=0.1, changed=0.02, controls=Controls.NONE)
    counted, ignored = (simulate(replace(noisy, counted=each), 400, 6) for each in (True, False))
    assert at_most(round(counted.regressed * 400), ALPHA)
    assert ignored.regressed + ignored.passed > NAIVE


@pytest.mark.parametrize(("gain", "saved"), [(-0.03, 0.8), (0.0, 0.5), (0.02, 0.85)])
def test_what_is_clear_is_decided_rightly_and_early(gain: float, saved: float) -> None:
    found = simulate(replace(BASE, gain=gain), 200, 7)
    assert (found.regressed if gain < -BASE.margin else found.passed) > 0.98
    assert found.saved > saved


def test_rules_save_calls_and_useless_ones_cost_next_to_none() -> None:
    plain, helped, useless = (
        simulate(replace(BASE, gain=0.0, controls=each), 200, 8).saved
        for each in (Controls.BASELINE, Controls.RULES, Controls.USELESS)
    )
    assert helped > plain + 0.02
    assert useless > plain - 0.02
