"""What is counted where all media tell the same, against scipy's binomial."""

from collections.abc import Mapping

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from caliper.analysis.exact import Cells, Place, constant_interval, constant_p, sign_test
from caliper.core.tally import Sums


@pytest.mark.parametrize("media", [1, 5, 40])
def test_none_of_n_moved_is_the_exact_binomial(media: int) -> None:
    bound = scipy.stats.binomtest(0, media).proportion_ci(method="exact").high
    assert constant_interval(0.0, 100.0, media) == pytest.approx((-100 * bound, 100 * bound))
    chance = scipy.stats.binomtest(0, media, 0.03, alternative="less").pvalue
    assert constant_p(0.0, -3.0, 100.0, media) == pytest.approx(chance, abs=1e-9)


def test_what_is_not_above_the_limit_tells_nothing() -> None:
    assert constant_p(-1.0, 0.0, 100.0, 50) == 1.0
    assert constant_p(0.0, 0.0, 100.0, 50) == 1.0
    # Below what the figure can have there is nothing to rule out.
    assert constant_p(0.0, -120.0, 100.0, 1) == 0.0


@given(st.floats(-100, 100), st.integers(1, 500))
def test_bounds_are_where_the_p_value_is_that_of_the_level(value: float, media: int) -> None:
    low, high = constant_interval(value, 100.0, media)
    assert -100 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 100
    if low < value - 1e-6:
        assert constant_p(value, low, 100.0, media) == pytest.approx(0.025, abs=1e-6)
    if high > value + 1e-6:
        assert constant_p(-value, -high, 100.0, media) == pytest.approx(0.025, abs=1e-6)


def paired(*results: tuple[int, int]) -> Cells:
    """Media with one question each, right (1) or not in the first run and in the second."""
    return {
        (run, "a"): {f"m{place}": {"n": 1, "cor": both[run]} for place, both in enumerate(results)}
        for run in (0, 1)
    }


def gained(sums: Mapping[Place, Sums]) -> float | None:
    first, second = (100 * sums[run, "a"]["cor"] / sums[run, "a"]["n"] for run in (0, 1))
    return float(second - first)


@pytest.mark.parametrize(("lost", "won"), [(1, 7), (7, 1), (0, 6), (5, 2), (4, 4), (0, 0)])
def test_the_sign_test_counts_media_for_and_against(lost: int, won: int) -> None:
    same = [(1, 1)] * 3 + [(0, 0)] * 2
    found = sign_test(paired(*same, *[(1, 0)] * lost, *[(0, 1)] * won), gained)
    expected = scipy.stats.binomtest(lost, lost + won).pvalue if lost + won else 1.0
    assert found == pytest.approx(expected, abs=1e-9)
    assert found <= 1


def test_the_sign_test_needs_data() -> None:
    with pytest.raises(ValueError, match="without data"):
        sign_test(paired((1, 0)), lambda _: None)
    # What cannot be exchanged tells nothing.
    values = iter([1.0, None])
    assert sign_test(paired((1, 0)), lambda _: next(values)) == 1.0


def test_without_an_observation_nothing_is_ruled_out() -> None:
    assert constant_interval(0.0, 100.0, 0) == (-100.0, 100.0)
    assert constant_p(0.0, -1.0, 100.0, 0) == 1.0
