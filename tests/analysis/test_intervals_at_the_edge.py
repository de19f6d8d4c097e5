"""Intervals where there is little data, no spread, or a bound: honest, or none."""

import math

import pytest
import scipy
from tests.fakes.tallies import judged, mean_f1, proportion, share, tally_of

from caliper.analysis.intervals import estimate, wilson
from caliper.core.report import Estimate, Figure, Kind
from caliper.core.tally import Tally


def test_intervals_stay_within_the_bounds() -> None:
    rows = [("a", "x", {"n": 9, "cor": 9}), ("a", "y", {"n": 9, "cor": 1})]
    for kind in (proportion("cor"), share("cor")):
        found = estimate(kind, tally_of(rows))
        # Two media tell next to nothing.
        assert 0 <= found.low < 2
        assert 98 < found.high <= 100


def test_a_count_has_no_interval_and_is_whole() -> None:
    figure = Figure(("n",), ("a",), lambda sums: sums["a"].get("n", 0), Kind.COUNT)
    found = estimate(figure, tally_of(judged("a", [1, 0])))
    assert found == Estimate(2)
    assert isinstance(found.value, int)


@pytest.mark.parametrize("figure", [proportion("cor"), share("cor")])
def test_no_data_no_interval(figure: Figure) -> None:
    assert estimate(figure, Tally()) == Estimate(None)


@pytest.mark.parametrize("figure", [proportion("cor"), share("cor")])
def test_a_single_cluster_of_several_questions_has_no_interval(figure: Figure) -> None:
    tally = tally_of([("a", "x", {"n": 3, "cor": 1})])
    assert estimate(figure, tally) == Estimate(pytest.approx(100 / 3))


def test_a_cell_that_one_cluster_alone_fills_has_no_interval() -> None:
    tally = tally_of([("a", "x", {"n": 1, "cor": 1}), ("a", "y", {"missing": 1})])
    assert estimate(share("cor"), tally) == Estimate(100.0)


@pytest.mark.parametrize("kind", [Kind.PROPORTION, Kind.RATIO])
def test_all_correct_is_not_certain(kind: Kind) -> None:
    rows = [("a", str(place), {"n": 2, "cor": 2}) for place in range(20)]
    figure = share("cor", kind=kind, shares=("cor", "n"))
    found = estimate(figure, tally_of(rows))
    # Twenty pictures, not forty questions.
    expected = scipy.stats.binomtest(20, 20).proportion_ci(method="wilson")
    assert found.method == "wilson"
    assert (found.low, found.high) == pytest.approx((100 * expected.low, 100.0))


def test_a_mean_of_perfect_cells_is_as_uncertain_as_its_smallest_cells_make_it() -> None:
    rows = judged("a", [1] * 4) + judged("b", [1] * 400)
    found = estimate(Figure(("f1",), ("a", "b"), mean_f1), tally_of(rows))
    seen = 4 / (1 / 4 + 1 / 400)
    assert found.low == pytest.approx(100 * wilson(1.0, seen)[0])
    assert found.high == 100.0


def test_equal_clusters_between_the_bounds_have_no_jackknife_interval() -> None:
    rows = [("a", str(place), {"n": 2, "cor": 1}) for place in range(5)]
    assert estimate(share("cor"), tally_of(rows)) == Estimate(50.0)


def test_a_figure_without_a_greatest_value_is_never_at_it() -> None:
    rows = [("a", str(place), {"n": 1, "cor": 0}) for place in range(5)]
    figure = share("cor", bounds=(0.0, math.inf))
    assert estimate(figure, tally_of(rows)) == Estimate(0.0)
