"""Models whose true correlation is known: how often the intervals hold it."""

import math

import numpy as np
import pytest
from tests.fakes.random_runs import at_least

from caliper.analysis.correlation import estimate_correlation

SETS = 500


@pytest.mark.parametrize("models", [5, 10, 30])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_intervals_of_a_correlation_hold_the_true_one(models: int, rho: float) -> None:
    """Scores of a normal distribution in two dimensions, for which all three are known."""
    draw = np.random.default_rng([models, round(10 * rho)])
    truths = {
        "pearson": rho,
        "kendall": 2 / math.pi * math.asin(rho),
        "spearman": 6 / math.pi * math.asin(rho / 2),
    }
    sets = draw.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=(SETS, models))
    found = [estimate_correlation(one[:, 0].tolist(), one[:, 1].tolist()) for one in sets]
    for name, truth in truths.items():
        bounds = [getattr(one, name) for one in found]
        assert all(one.low < one.high for one in bounds)
        # Right in the limit only: two points are allowed for.
        assert at_least(sum(one.low <= truth <= one.high for one in bounds), 0.93, SETS), name


def test_intervals_over_images_hold_the_true_correlation() -> None:
    """Four captions of each image, which share half of their variance: r is .5."""
    images, sets = 12, 60
    draw = np.random.default_rng(images)
    names = [f"{number // 4}.jpg" for number in range(4 * images)]
    covered = 0
    for _ in range(sets):
        values = np.repeat(draw.normal(size=(images, 2)), 4, axis=0)
        values += draw.normal(size=(4 * images, 2))
        other = values @ [0.5, math.sqrt(0.75)]
        found = estimate_correlation(values[:, 0].tolist(), other.tolist(), images=names).pearson
        covered += found.low <= 0.5 <= found.high
    assert at_least(covered, 0.93, sets)
