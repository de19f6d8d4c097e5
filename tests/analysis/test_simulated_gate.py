"""Checkpoints whose true difference is known: how often a gate is wrong."""

import numpy as np
import pytest
from tests.fakes.random_runs import F1, PAIRS, RECALL, at_most, coins, pair, within

from caliper.analysis.compare import compare, difference
from caliper.analysis.gate import Check, Decision, GateSide, Policy, gate
from caliper.analysis.significance import LEVEL
from caliper.core.report import Figure

WHOLE = GateSide(complete=True, coverage={"capability": 1.0})
RECALLS = "tasks.*.recall"


def decided(seed: int, gain: float, margin: float, pairs: int = PAIRS) -> dict[Decision, int]:
    draw = np.random.default_rng(seed)
    policy = Policy((Check("capability", "recall", max_drop=margin),))
    found = [
        gate(policy, {"capability": compare((RECALL,), *pair(draw, gain))}, WHOLE, WHOLE).decision
        for _ in range(pairs)
    ]
    return {decision: found.count(decision) for decision in Decision}


def test_a_drop_that_is_just_allowed_is_rarely_called_a_regression_or_passed() -> None:
    counts = decided(16, -0.05, margin=5.0)
    assert within(counts[Decision.REGRESSION], LEVEL)
    assert within(counts[Decision.PASSED], LEVEL)


def test_what_is_clearly_better_or_worse_is_decided() -> None:
    assert decided(17, 0.12, margin=2.0, pairs=200)[Decision.PASSED] > 0.95 * 200
    assert decided(18, -0.25, margin=2.0, pairs=200)[Decision.REGRESSION] > 0.95 * 200


def test_eight_checks_raise_no_more_alarms_than_one() -> None:
    draw = np.random.default_rng(19)
    alarms = alone = 0
    runs = 200
    policy = Policy((Check("capability", RECALLS, max_drop=0.0),))
    for _ in range(runs):
        found = [difference(RECALL, *pair(draw)) for _ in range(8)]
        figures = {("tasks", f"task-{place}", "recall"): one for place, one in enumerate(found)}
        gated = gate(policy, {"capability": figures}, WHOLE, WHOLE)
        alarms += gated.decision is Decision.REGRESSION
        alone += any(
            gate(policy, {"capability": {path: one}}, WHOLE, WHOLE).decision is Decision.REGRESSION
            for path, one in figures.items()
        )
    # Eight that are independent: Holm's adjustment costs next to nothing of the level.
    assert within(alarms, 1 - (1 - LEVEL / 8) ** 8, runs)
    assert within(alone, 1 - (1 - LEVEL) ** 8, runs)


def equals(figure: Figure, name: str, media: int, share: float) -> list[Decision]:
    """What is decided on a candidate that is as good, of which not a point may be lost."""
    draw = np.random.default_rng(media)
    policy = Policy((Check("capability", name, max_drop=0.0),))
    return [
        gate(policy, {"capability": compare((figure,), *sides)}, WHOLE, WHOLE).decision
        for sides in (coins(draw, media, [share, share]) for _ in range(PAIRS))
    ]


@pytest.mark.parametrize(("media", "share"), [(5, 0.5), (40, 0.99), (120, 0.999)])
def test_pictures_that_tell_the_same_raise_no_more_alarms(media: int, share: float) -> None:
    decisions = equals(RECALL, "recall", media, share)
    assert at_most(decisions.count(Decision.REGRESSION), LEVEL)
    assert at_most(decisions.count(Decision.PASSED), LEVEL)


@pytest.mark.parametrize(("media", "share"), [(10, 0.9), (40, 0.95), (120, 0.98)])
def test_few_losses_of_a_ratio_are_no_regression(media: int, share: float) -> None:
    """By chance one run has the few questions that are wrong."""
    decisions = equals(F1, "f1", media, share)
    assert at_most(decisions.count(Decision.REGRESSION), LEVEL)


@pytest.mark.parametrize("level", [0.05, 0.005])
def test_a_rare_loss_is_not_passed_over(level: float) -> None:
    """Two points are lost, and two are allowed: of 200 pictures now and then none shows it."""
    draw = np.random.default_rng(61)
    policy = Policy((Check("capability", "recall", max_drop=2.0),), level)
    found = [difference(RECALL, *coins(draw, 200, [1.0, 0.98])) for _ in range(PAIRS)]
    gated = [gate(policy, {"capability": {("recall",): one}}, WHOLE, WHOLE) for one in found]
    assert sum(one.error is None for one in found) > 0.01 * PAIRS
    assert at_most(sum(one.decision is Decision.PASSED for one in gated), level)
