from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from caliper.benchmarks.stability import deviation, spread


def test_the_deviation_is_that_of_a_sample() -> None:
    assert deviation([Fraction(1), Fraction(2), Fraction(3)]) == 1.0
    assert spread([Fraction(1), Fraction(2), Fraction(3)]) == 2.0


def test_of_fewer_than_two_there_is_none() -> None:
    assert spread([Fraction(1), None]) is None
    assert deviation([Fraction(1), None]) is None


@given(st.lists(st.floats(0, 100), min_size=2))
def test_order_does_not_matter_to_the_last_bit(values: list[float]) -> None:
    shuffled = sorted(values)
    assert spread(values) == spread(shuffled)
    assert deviation(values) == deviation(shuffled)
