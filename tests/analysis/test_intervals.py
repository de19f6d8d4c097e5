"""Intervals: exact where a formula can be worked out apart."""

import random
from fractions import Fraction

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.tallies import judged, mean_f1, proportion, share, tally_of

from caliper.analysis.intervals import effective_interval, estimate, estimate_all, wilson
from caliper.core.report import Estimate, Figure, Kind
from caliper.core.tally import Tally

Scored = tuple[str, str, int]


def test_wilson_is_scipys() -> None:
    for right, asked in [(0, 1), (1, 1), (3, 10), (0, 50), (50, 50), (700, 1000)]:
        expected = scipy.stats.binomtest(right, asked).proportion_ci(method="wilson")
        assert wilson(right / asked, asked) == pytest.approx((expected.low, expected.high))


def test_a_proportion_with_one_question_a_cluster_has_wilsons_interval() -> None:
    tally = tally_of(judged("a", [1] * 7 + [0] * 2 + [-1]))
    found = estimate(proportion("cor"), tally)
    expected = scipy.stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert found.method == "wilson"
    assert found.value == 70.0
    assert (found.low, found.high) == pytest.approx((100 * expected.low, 100 * expected.high))


def test_a_proportion_with_repeating_clusters_is_robust_to_them() -> None:
    rows = [("a", "x", {"n": 3, "cor": 3}), ("a", "y", {"n": 2, "cor": 0})]
    rows += [("a", "z", {"n": 4, "cor": 1}), ("a", "w", {"n": 1, "cor": 1})]
    found = estimate(proportion("cor"), tally_of(rows))
    # By hand: p = 1/2, residuals 3/2, -1, -1, 1/2, variance 4/3 * 9/2 / 100.
    variance = 4 / 3 * 4.5 / 100
    low, high = wilson(
        0.5, 0.25 / variance * (scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, 3)) ** 2
    )
    assert found == Estimate(50.0, pytest.approx(100 * low), pytest.approx(100 * high), "cluster")


def test_equal_clusters_have_the_error_of_their_means() -> None:
    means = [1, 3, 2, 4, 2, 3, 3, 1]
    rows = [("a", str(place), {"n": 5, "cor": right}) for place, right in enumerate(means)]
    found = estimate(proportion("cor"), tally_of(rows))
    of_means = [right / 5 for right in means]
    expected = effective_interval(
        float(np.mean(of_means)), float(scipy.stats.sem(of_means)), len(means)
    )
    assert (found.low, found.high) == pytest.approx(tuple(100 * bound for bound in expected))


def test_in_the_middle_it_is_students_interval() -> None:
    low, high = effective_interval(0.5, 0.01, 200)
    half = scipy.stats.t.ppf(0.975, 199) * 0.01
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=2e-5)
    # Near a bound it reaches further inwards than outwards.
    low, high = effective_interval(0.98, 0.01, 200)
    assert 0.98 - low > 1.5 * (high - 0.98) > 0
    assert high < 1


def test_a_partial_credit_is_not_a_coin() -> None:
    rows = [("a", str(place), {"n": 1, "cor": Fraction(place % 3, 2)}) for place in range(12)]
    assert estimate(proportion("cor"), tally_of(rows)).method == "cluster"


def test_clusters_without_a_whole_do_not_count() -> None:
    rows = judged("a", [1, 0, 0, 1])
    silent = [("a", f"silent{place}", {"n": 0, "missing": 1}) for place in range(90)]
    assert estimate(proportion("cor"), tally_of(rows + silent)) == estimate(
        proportion("cor"), tally_of(rows)
    )


def test_a_proportion_must_name_its_shares() -> None:
    with pytest.raises(ValueError, match="cor does not name its shares"):
        estimate(share("cor", kind=Kind.PROPORTION), Tally())


def test_estimates_come_by_path_in_order() -> None:
    figures = (proportion("hit"), share("cor"))
    assert list(estimate_all(figures, tally_of(judged("a", [1, 0])))) == [("hit",), ("cor",)]


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from([f"m{number}" for number in range(6)]),
        st.sampled_from([-1, 0, 1]),
    ),
    max_size=40,
)
FIGURES = (
    proportion("cor", ("a", "b", "c")),
    proportion("hit"),
    share("cor", ("a", "b")),
    Figure(("average", "f1"), ("a", "b", "c"), mean_f1),
)


@given(ROWS, st.randoms(use_true_random=False), st.integers(0, 40))
def test_the_order_of_merging_changes_no_bit(
    rows: list[Scored], draw: random.Random, cut: int
) -> None:
    def filled(some: list[Scored]) -> Tally:
        return tally_of(
            (cell, cluster, {"n": 1, "hit": int(score != 0), "cor": int(score == 1)})
            for cell, cluster, score in some
        )

    whole = estimate_all(FIGURES, filled(rows))
    shuffled = draw.sample(rows, len(rows))
    parts = filled(shuffled[cut:]).merge(filled(shuffled[:cut]))
    assert estimate_all(FIGURES, parts) == whole


@given(ROWS)
def test_every_interval_holds_its_value_within_the_bounds(rows: list[Scored]) -> None:
    tally = tally_of(
        (cell, cluster, {"n": 1, "hit": int(score != 0), "cor": int(score == 1)})
        for cell, cluster, score in rows
    )
    for found in estimate_all(FIGURES, tally).values():
        if found.low is None or found.high is None:
            assert (found.low, found.high, found.method) == (None, None, "")
        else:
            assert 0.0 <= found.low <= found.value <= found.high <= 100.0
            assert found.low < found.high
