from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from caliper.analysis.correlation import (
    Correlated,
    _kendall,
    _pearson,
    correlated,
    correlation,
)


def test_three_coefficients_by_hand() -> None:
    # Pairs (1,1) (2,3) (3,2) (4,4): five concordant, one discordant; squared rank differences 2.
    found = correlation([1, 2, 3, 4], [1, 3, 2, 4])
    assert found.kendall == pytest.approx((5 - 1) / 6)
    assert found.spearman == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert found.pearson == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("metric", "human"), [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, 1.0], [1.0, 2.0])]
)
def test_what_cannot_be_correlated_is_refused(metric: list[float], human: list[float]) -> None:
    with pytest.raises(ValueError, match=r"."):
        correlation(metric, human)


def test_intervals_hold_the_value_and_narrow_with_the_models() -> None:
    few, many = ([float(n) for n in range(size)] for size in (6, 60))
    ups = [[value + (3 if value % 2 else 0) for value in values] for values in (few, many)]
    widths = []
    for values, human in zip((few, many), ups, strict=True):
        found = correlated(values, human)
        assert found.models == len(values)
        for one in (found.pearson, found.kendall, found.spearman):
            assert one.value is not None
            assert one.low is not None
            assert one.high is not None
            assert -1 <= one.low <= one.value <= one.high <= 1
        widths.append((found.kendall.high or 0) - (found.kendall.low or 0))
    assert widths[1] < widths[0]
    assert correlated(few, ups[0]) == correlated(few, ups[0])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_the_draws_are_computed_as_the_value_is(pairs: list[tuple[int, int]]) -> None:
    """Where every draw is the whole set in another order, bounds and value are one."""
    metric, human = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    rows = np.array([metric, human])[:, None, :]
    if min(len(set(metric)), len(set(human))) < 2:
        assert np.isnan(_pearson(*rows)).all()
        assert np.isnan(_kendall(*rows)).all()
        return
    whole = correlation(metric, human)
    assert _pearson(*rows)[0] == pytest.approx(whole.pearson)
    assert _kendall(*rows)[0] == pytest.approx(whole.kendall)
    ranks = (stats.rankdata(row, axis=1) for row in rows)
    assert _pearson(*ranks)[0] == pytest.approx(whole.spearman)


def test_what_tells_nothing_has_no_coefficient() -> None:
    assert correlated([1.0], [2.0]) == Correlated(1)
    assert correlated([1.0, 1.0], [1.0, 2.0]) == Correlated(2)
    assert correlated([], []) == Correlated(0)
    with pytest.raises(ValueError, match="human scores"):
        correlated([1.0, 2.0], [1.0])
