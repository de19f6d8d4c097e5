"""Checkpoints whose true difference is known: how often comparing them is wrong.

Every pair of runs looks at the same pictures, some harder than others for both, with one to
six questions each. A rate is held against the interval that a binomial count of so many pairs has.
"""

import numpy as np
import pytest
import scipy
from tests.fakes.random_runs import (
    F1,
    PAIRS,
    PICTURES,
    RECALL,
    at_least,
    at_most,
    coins,
    pair,
    side_by_side,
    within,
)

from caliper.analysis.compare import Difference, adjust, compare, difference
from caliper.analysis.intervals import estimate
from caliper.analysis.significance import LEVEL, POWER

FIGURES = (RECALL, F1)


def compared(seed: int, most: int) -> list[dict[str, Difference]]:
    draw = np.random.default_rng(seed)
    found = (compare(FIGURES, *pair(draw, most=most)) for _ in range(PAIRS))
    return [{path[0]: one for path, one in each.items()} for each in found]


@pytest.mark.parametrize("most", [1, 6])
def test_equal_checkpoints_are_told_apart_as_often_as_the_level_says(most: int) -> None:
    found = compared(11, most)
    assert within(sum(each["f1"].p < LEVEL for each in found), LEVEL)
    alarms = sum(each["recall"].p < LEVEL for each in found)
    # McNemar's test is exact: it may raise fewer alarms than the level, never more.
    assert at_most(alarms, LEVEL) if most == 1 else within(alarms, LEVEL)
    covered = sum(each["recall"].low <= 0 <= each["recall"].high for each in found)
    assert within(covered, 0.95)


@pytest.mark.parametrize(("media", "share"), [(6, 0.5), (30, 0.97), (120, 0.995)])
def test_few_pictures_and_nearly_perfect_runs_raise_no_more_alarms(
    media: int, share: float
) -> None:
    """Most pictures, or all, tell the same: there is a p even so, and no interval is a point."""
    draw = np.random.default_rng(media)
    runs = (coins(draw, media, [share, share]) for _ in range(PAIRS))
    found = [difference(RECALL, *sides) for sides in runs]
    assert all(one.p is not None and one.low < one.high for one in found)
    assert at_most(sum(one.p < LEVEL for one in found), LEVEL)
    assert at_least(sum(one.low <= 0 <= one.high for one in found), 0.95)
    assert sum(one.error is None for one in found) > 0.01 * PAIRS


def test_many_candidates_raise_no_more_alarms_than_one() -> None:
    draw = np.random.default_rng(20)
    alarms = alone = 0
    for _ in range(PAIRS):
        base, *others = side_by_side(draw, [0.0] * 5)
        found = adjust([{F1.path: difference(F1, base, other)} for other in others])
        alarms += any(each[F1.path].adjusted < LEVEL for each in found)
        alone += any(each[F1.path].p < LEVEL for each in found)
    # Holm's adjustment promises no more; candidates that share a base hang together, so fewer.
    assert at_most(alarms, LEVEL)
    assert alone > 2 * LEVEL * PAIRS


@pytest.mark.parametrize("gain", [0.05, -0.2])
def test_the_interval_of_a_difference_covers_the_true_one(gain: float) -> None:
    draw = np.random.default_rng(12)
    found = [difference(RECALL, *pair(draw, gain)) for _ in range(PAIRS)]
    assert within(sum(one.low <= 100 * gain <= one.high for one in found), 0.95)


@pytest.mark.parametrize("most", [1, 6])
def test_differences_of_the_detectable_size_are_found_as_often_as_stated(most: int) -> None:
    size = 15.0
    for seed in (13, 14, 15):
        # The size at which a comparison says that it would find just that.
        draw = np.random.default_rng(seed)
        pilot = (difference(RECALL, *pair(draw, size / 100, most)) for _ in range(100))
        size = float(np.mean([one.detectable for one in pilot]))
    draw = np.random.default_rng(16)
    found = [difference(RECALL, *pair(draw, size / 100, most)) for _ in range(PAIRS)]
    # Student's noncentral t: (t(.975) + t(.8)) errors away from nothing.
    degrees = PICTURES - 1
    least = scipy.stats.t.ppf(1 - LEVEL / 2, degrees)
    power = scipy.stats.nct.sf(least, degrees, least + scipy.stats.t.ppf(POWER, degrees))
    assert power == pytest.approx(POWER, abs=0.005)
    assert within(sum(one.p < LEVEL for one in found), power)


def test_the_interval_of_one_run_covers_its_true_share() -> None:
    draw = np.random.default_rng(15)
    found = [estimate(RECALL, pair(draw)[0]) for _ in range(PAIRS)]
    assert within(sum(one.low <= 50.0 <= one.high for one in found), 0.95)
