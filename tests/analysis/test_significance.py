"""p-values against scipy's own tests, and what they promise against simulation."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from caliper.analysis.significance import (
    LEVEL,
    detectable_difference,
    detectable_mcnemar,
    holm,
    mcnemar,
    two_sided,
    upper_tail,
)

PAIRS = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=20)


@pytest.mark.parametrize(
    ("lost", "won"), [(0, 0), (1, 1), (5, 5), (0, 1), (3, 9), (9, 3), (40, 41), (0, 60)]
)
def test_mcnemar_is_the_exact_binomial_test(lost: int, won: int) -> None:
    expected = scipy.stats.binomtest(lost, lost + won).pvalue if lost + won else 1.0
    assert mcnemar(lost, won) == pytest.approx(expected, abs=1e-9)


def test_two_sided_is_the_paired_t_test() -> None:
    draw = np.random.default_rng(3)
    gaps = draw.normal(0.3, 1.0, size=25)
    expected = scipy.stats.ttest_1samp(gaps, 0.0).pvalue
    assert two_sided(gaps.mean(), scipy.stats.sem(gaps), 24) == pytest.approx(expected, abs=1e-9)


@given(PAIRS)
def test_adjusting_keeps_places_and_order(values: list[float | None]) -> None:
    adjusted = holm(values)
    assert [p is None for p in adjusted] == [p is None for p in values]
    known = [(p, q) for p, q in zip(values, adjusted, strict=True) if p is not None]
    assert all(q is not None and round(p, 9) <= q <= 1 for p, q in known)
    ordered = sorted(known, key=lambda pair: (pair[0], pair[1] or 0))
    assert ordered == sorted(known, key=lambda pair: (pair[1] or 0, pair[0])) or len(
        {q for _, q in known}
    ) < len(known)


def test_adjusted_as_printed_by_holm() -> None:
    """Four hypotheses: the smallest is multiplied by 4, the next by 3 and so on."""
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == [0.03, 0.06, None, 0.06, 0.02]


def test_a_family_of_true_hypotheses_raises_an_alarm_as_rarely_as_one() -> None:
    draw = np.random.default_rng(4)
    families, size = 4000, 13
    values = draw.uniform(size=(families, size))
    alarms = sum(min(p for p in holm(list(row)) if p is not None) < LEVEL for row in values)
    bound = 4 * math.sqrt(LEVEL * (1 - LEVEL) / families)
    assert alarms / families <= LEVEL + bound
    assert (values.min(axis=1) < LEVEL).mean() > 0.4


def test_the_detectable_difference_is_found_as_often_as_promised() -> None:
    """Power by simulation: of true differences of that size four in five are found."""
    draw = np.random.default_rng(5)
    size, runs = 40, 4000
    effect = detectable_difference(1 / math.sqrt(size), size - 1)
    gaps = draw.normal(effect, 1.0, size=(runs, size))
    errors = gaps.std(axis=1, ddof=1) / math.sqrt(size)
    found = sum(
        two_sided(mean, error, size - 1) < LEVEL
        for mean, error in zip(gaps.mean(axis=1), errors, strict=True)
    )
    assert found / runs == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(("discordant", "expected"), [(6, 5), (10, 7), (48, 15), (100, 21)])
def test_mcnemar_finds_what_is_half_a_step_under_its_critical_value(
    discordant: int, expected: int
) -> None:
    """Of 48 discordant questions 32 have to be on one side: 2 x 32 - 1 - 48 is 15 apart."""
    spread = scipy.stats.norm.ppf(0.8) * math.sqrt(discordant)
    assert detectable_mcnemar(discordant) == pytest.approx(expected + spread, abs=1e-6)
    critical = (discordant + expected + 1) // 2
    assert mcnemar(discordant - critical, critical) < LEVEL
    assert mcnemar(discordant - critical + 1, critical - 1) >= LEVEL


def test_fewer_than_six_discordant_questions_are_never_clear() -> None:
    assert detectable_mcnemar(0) == detectable_mcnemar(5) == detectable_mcnemar(6)
    assert mcnemar(0, 5) > LEVEL > mcnemar(0, 6)


def test_a_test_of_lopsided_numbers_keeps_its_level() -> None:
    """A mean of 2 of numbers that are 0 but for one in 50, which is 100: few samples show all."""
    draw = np.random.default_rng(6)
    size, runs = 300, 4000
    plain = corrected = 0
    for hits in draw.binomial(size, 0.02, size=runs).tolist():
        if not hits:
            continue
        mean, rest = 100 * hits / size, size - hits
        squares = hits * (100 - mean) ** 2 + rest * mean**2
        cubes = hits * (100 - mean) ** 3 - rest * mean**3
        error = math.sqrt(squares / (size - 1) / size)
        skew = cubes / (6 * squares**1.5)
        plain += upper_tail(2 - mean, error, size - 1) < LEVEL
        corrected += upper_tail(2 - mean, error, size - 1, -skew) < LEVEL
    bound = LEVEL + 4 * math.sqrt(LEVEL * (1 - LEVEL) / runs)
    assert corrected / runs <= bound < plain / runs


@given(st.floats(-5, 5), st.floats(-0.2, 0.2))
def test_no_skew_makes_a_test_more_certain(value: float, skew: float) -> None:
    assert upper_tail(value, 1.0, 30, skew) >= upper_tail(value, 1.0, 30)
