"""The distributions of a report are scipy's, to the decimals that are kept."""

import math

import pytest
from scipy.special import bdtr, bdtrik, stdtr, stdtrit

from caliper.analysis.distributions import (
    coin_quantile,
    coin_tail,
    student_quantile,
    student_tail,
)

DEGREES = (*range(1, 130), 999, 12_345, 200_000)


@pytest.mark.parametrize("share", [0.8, 0.975])
def test_quantiles_of_student(share: float) -> None:
    found = [round(student_quantile(degrees, share), 9) for degrees in DEGREES]
    assert found == [round(float(stdtrit(degrees, share)), 9) for degrees in DEGREES]


@pytest.mark.parametrize("t", [-40.0, -1.7, -0.003, 0.0, 1e-9, 0.4, 1.1, 2.3, 6.0, 500.0, 1e200])
def test_tails_of_student(t: float) -> None:
    found = [round(student_tail(degrees, t), 9) for degrees in DEGREES]
    assert found == [round(float(stdtr(degrees, -t)), 9) for degrees in DEGREES]


@pytest.mark.parametrize("tosses", [1, 2, 7, 40, 1001, 30_000])
def test_tails_of_a_coin(tosses: int) -> None:
    middle = tosses // 2
    mosts = sorted({max(0, middle - round(step * math.sqrt(tosses))) for step in (0, 0.5, 1, 2, 9)})
    found = [round(coin_tail(most, tosses), 9) for most in mosts]
    assert found == [round(float(bdtr(most, tosses, 0.5)), 9) for most in mosts]


def test_quantiles_of_a_coin() -> None:
    tosses = (*range(6, 200), 999, 30_000)
    found = [coin_quantile(0.025, each) for each in tosses]
    assert found == [math.floor(float(bdtrik(0.025, each, 0.5))) for each in tosses]
    assert coin_quantile(0.025, 5) == -1
