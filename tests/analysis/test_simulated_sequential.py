"""Comparisons that stop, at the margin: how often they are wrong, 1,000 paths a case."""

from dataclasses import replace

import pytest
from bench.sequential.paths import ALPHA, simulate
from bench.sequential.questions import Controls, Scenario
from bench.sequential.report import BASE, ERRORS
from tests.fakes.simulated import PAIRS, at_most

NAIVE = 0.2
"""An error that is clearly more than alpha."""


@pytest.mark.parametrize("scenario", ERRORS, ids=lambda scenario: scenario.name)
def test_a_drop_of_the_margin_is_rarely_called_a_regression_or_passed(scenario: Scenario) -> None:
    found = simulate(scenario, PAIRS, 5)
    assert at_most(round(found.regressed * PAIRS), ALPHA)
    assert at_most(round(found.passed * PAIRS), ALPHA)


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
