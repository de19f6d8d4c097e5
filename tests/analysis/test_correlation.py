from __future__ import annotations

import math
import random

import numpy as np
import pytest
import scipy

from caliper.analysis.correlation import CorrelationEstimate, estimate_correlation


def test_three_coefficients_by_hand() -> None:
    # Pairs (1,1) (2,3) (3,2) (4,4): five concordant, one discordant; squared rank differences 2.
    found = estimate_correlation([1, 2, 3, 4], [1, 3, 2, 4])
    assert found.kendall.value == pytest.approx((5 - 1) / 6, abs=1e-6)
    assert found.spearman.value == pytest.approx(1 - 6 * 2 / (4 * 15), abs=1e-6)
    assert found.pearson.value == pytest.approx(0.8, abs=1e-6)


def bounds(found: CorrelationEstimate) -> list[tuple[float | None, float | None, float | None]]:
    return [
        (one.low, one.value, one.high) for one in (found.pearson, found.kendall, found.spearman)
    ]


def test_intervals_are_those_of_fishers_scale() -> None:
    draw = np.random.default_rng(1)
    metric, human = draw.normal(size=(2, 20)).tolist()
    found = estimate_correlation(metric, human)
    expected = scipy.stats.pearsonr(metric, human).confidence_interval(0.95)
    assert (found.pearson.low, found.pearson.high) == pytest.approx(tuple(expected), abs=1e-6)
    rho, tau = found.spearman.value or 0.0, found.kendall.value or 0.0
    for one, value, spread in (
        (found.spearman, rho, math.sqrt((1 + rho**2 / 2) / 17)),
        (found.kendall, tau, math.sqrt(0.437 / 16)),
    ):
        half = 1.959964 * spread
        expected_bounds = (math.tanh(math.atanh(value) + side * half) for side in (-1, 1))
        assert (one.low, one.high) == pytest.approx(tuple(expected_bounds), abs=1e-4)


@pytest.mark.parametrize("models", [5, 6, 20])
@pytest.mark.parametrize("turned", [1, -1])
def test_a_perfect_order_is_not_certain(models: int, turned: int) -> None:
    metric = [float(number) for number in range(models)]
    for human in ([turned * value for value in metric], [turned * value**3 for value in metric]):
        found = estimate_correlation(metric, human)
        assert not found.remark
        assert found.spearman.value == found.kendall.value == turned
        for low, value, high in bounds(found):
            assert -1 <= low <= value <= high <= 1
            assert high - low > 0.001
            # Of five models one order in sixty is perfect, one way or the other: no order at
            # all is ruled out.
            assert turned * (low if turned > 0 else high) > 0


@pytest.mark.parametrize("models", [3, 4])
def test_few_models_have_no_interval(models: int) -> None:
    metric = [float(number) for number in range(models)]
    found = estimate_correlation(metric, metric)
    assert bounds(found) == [(None, 1.0, None)] * 3
    assert "no interval below 5 models" in found.remark


def test_models_that_share_few_values_are_few() -> None:
    metric = [float(number) for number in range(12)]
    found = estimate_correlation(metric, [float(number > 5) for number in range(12)])
    assert found.models == 12
    assert all(low is None and 0 < value < 1 for low, value, _ in bounds(found))
    assert "values of their own" in found.remark
    # Ties among enough values are Kendall's tau-b and average ranks, with an interval.
    tied = estimate_correlation(metric, [float(number // 2) for number in range(12)])
    assert not tied.remark
    assert tied.kendall.value == pytest.approx(60 / math.sqrt(66 * 60), abs=1e-6)
    assert all(low < value < 1 for low, value, _ in bounds(tied))


def test_what_tells_nothing_has_no_coefficient() -> None:
    for metric, human, remark in (
        ([1.0], [2.0], "fewer than 3 models"),
        ([1.0, 2.0], [1.0, 2.0], "two always lie on one line"),
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "the same value"),
        ([], [], "fewer than 3 models"),
    ):
        found = estimate_correlation(metric, human)
        assert bounds(found) == [(None, None, None)] * 3
        assert found.models == len(metric)
        assert remark in found.remark
    with pytest.raises(ValueError, match="human scores"):
        estimate_correlation([1.0, 2.0], [1.0])


def test_tau_c_by_hand() -> None:
    # Stuart's: 2 m (P - Q) / (n^2 (m - 1)), with m = 2 for people's two values. All 9 pairs of
    # captions that people tell apart are in order.
    found = estimate_correlation([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1])
    assert found.kendall_c.value == pytest.approx(2 * 2 * 9 / (36 * 1))
    assert found.kendall_c.low is None


def test_captions_of_few_images_have_no_interval() -> None:
    values = [float(number) for number in range(18)]
    images = [f"{number // 2}.jpg" for number in range(18)]
    found = estimate_correlation(values, values, noun="captions", images=images)
    assert found.kendall.value == found.kendall_c.value == 1
    assert found.kendall.low is None
    assert "several captions are of one image, and there are fewer than 10 images" in found.remark


def test_captions_of_many_images_have_intervals_over_images() -> None:
    draw = random.Random(1)
    images = [f"{number // 3}.jpg" for number in range(90)]
    human = [draw.gauss(0, 1) for _ in images]
    metric = [score + draw.gauss(0, 1) for score in human]
    found = estimate_correlation(metric, human, noun="captions", images=images)
    alone = estimate_correlation(metric, human)
    assert found.remark == ""
    for one, other in zip(bounds(found), bounds(alone), strict=True):
        assert one[1] == other[1]
        assert one[0] < one[1] < one[2]
    # All on one line: Fisher's scale is infinite there.
    perfect = estimate_correlation(metric, metric, noun="captions", images=images)
    assert bounds(perfect) == [(None, 1.0, None)] * 3


def test_the_order_of_captions_changes_no_interval() -> None:
    draw = random.Random(2)
    rows = [(draw.random(), draw.random(), f"{number // 2}.jpg") for number in range(60)]
    found = []
    for each in (rows, draw.sample(rows, len(rows))):
        metric, human, images = (list(column) for column in zip(*each, strict=True))
        found.append(estimate_correlation(metric, human, images=images))
    assert found[0] == found[1]
