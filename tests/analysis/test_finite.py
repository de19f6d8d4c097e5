from math import comb, sqrt

import pytest

from caliper.analysis.finite import of_all
from caliper.core.report import Estimate


def test_an_interval_shrinks_by_what_is_left_to_chance() -> None:
    whole = Estimate(50.0, 40.0, 62.0, "jackknife")
    part = of_all(whole, 0.36)
    assert (part.value, part.method) == (50.0, "jackknife")
    assert part.low == pytest.approx(50 - 0.8 * 10)
    assert part.high == pytest.approx(50 + 0.8 * 12)


@pytest.mark.parametrize("without", [Estimate(None), Estimate(3.0), Estimate(7)])
def test_without_an_interval_there_is_none(without: Estimate) -> None:
    assert of_all(without, 0.5) == without


@pytest.mark.parametrize(("drawn", "of"), [(40, 80), (90, 100), (30, 300)])
def test_no_exception_among_those_drawn_bounds_those_among_all(drawn: int, of: int) -> None:
    bound = of_all(Estimate(0.0, 0.0, 3 / drawn, "wilson"), drawn / of).high
    assert bound is not None
    # With one exception more than the bound, drawing none has a chance of less than about 5%.
    exceptions = int(bound * of) + 1
    assert comb(of - exceptions, drawn) / comb(of, drawn) < 0.055
    assert bound > sqrt(1 - drawn / of) * 3 / drawn
