from __future__ import annotations

import pytest

from caliper.analysis.correlation import correlation


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
