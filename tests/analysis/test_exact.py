"""What is counted where all media tell the same, against scipy's binomial."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from caliper.analysis.exact import alike_beyond, alike_bounds


@pytest.mark.parametrize("media", [1, 5, 40])
def test_none_of_n_moved_is_the_exact_binomial(media: int) -> None:
    bound = stats.binomtest(0, media).proportion_ci(method="exact").high
    assert alike_bounds(0.0, 100.0, media) == pytest.approx((-100 * bound, 100 * bound))
    chance = stats.binomtest(0, media, 0.03, alternative="less").pvalue
    assert alike_beyond(0.0, -3.0, 100.0, media) == pytest.approx(chance, abs=1e-9)


def test_what_is_not_above_the_limit_tells_nothing() -> None:
    assert alike_beyond(-1.0, 0.0, 100.0, 50) == 1.0
    assert alike_beyond(0.0, 0.0, 100.0, 50) == 1.0
    # Below what the figure can have there is nothing to rule out.
    assert alike_beyond(0.0, -120.0, 100.0, 1) == 0.0


@given(st.floats(-100, 100), st.integers(1, 500))
def test_bounds_are_where_the_p_value_is_that_of_the_level(value: float, media: int) -> None:
    low, high = alike_bounds(value, 100.0, media)
    assert -100 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 100
    if low < value - 1e-6:
        assert alike_beyond(value, low, 100.0, media) == pytest.approx(0.025, abs=1e-6)
    if high > value + 1e-6:
        assert alike_beyond(-value, -high, 100.0, media) == pytest.approx(0.025, abs=1e-6)
