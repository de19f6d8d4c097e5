"""Intervals: exact where a formula can be worked out apart, honest where it cannot."""

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from caliper.analysis.intervals import estimate, estimate_all, wilson
from caliper.core.report import Estimate, Figure, Kind, Statistic
from caliper.core.tally import Sums, Tally

Row = tuple[str, str, dict[str, Any]]
Scored = tuple[str, str, int]
Cells = Mapping[str, Sums]
TASKS = tuple(f"task{number}" for number in range(13))


def share(name: str, cells: tuple[str, ...] = ("a",), **more: Any) -> Figure:
    def statistic(sums: Cells) -> float | None:
        whole = sum(sums[cell].get("n", 0) for cell in cells)
        part = sum(sums[cell].get(name, 0) for cell in cells)
        return float(100 * Fraction(part, whole)) if whole else None

    return Figure((name,), cells, statistic, **more)


def proportion(name: str, cells: tuple[str, ...] = ("a",)) -> Figure:
    return share(name, cells, kind=Kind.PROPORTION, shares=(name, "n"))


def f1_of(sums: Sums) -> float | None:
    hit, right, asked = (sums.get(name, 0) for name in ("hit", "cor", "n"))
    if not asked:
        return None
    if not right:
        return 0.0
    precision, recall = Fraction(right, hit), Fraction(right, asked)
    return float(200 * precision * recall / (precision + recall))


def mean_f1(sums: Cells) -> float | None:
    values = [f1_of(sums[cell]) for cell in sums]
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def tally_of(rows: Iterable[Row]) -> Tally:
    tally = Tally()
    for cell, cluster, amounts in rows:
        tally.add(cell, cluster, **amounts)
    return tally


def judged(cell: str, scores: Iterable[int]) -> list[Row]:
    return [
        (cell, f"{cell}/{number}", {"n": 1, "hit": int(score != 0), "cor": int(score == 1)})
        for number, score in enumerate(scores)
    ]


def naive_jackknife(
    rows: list[Row], statistic: Statistic, cells: tuple[str, ...]
) -> tuple[float, float]:
    """The textbook's: everything summed anew for every cluster left out."""
    clusters = sorted({cluster for _, cluster, _ in rows})

    def without(left_out: str | None) -> float:
        tally = tally_of([row for row in rows if row[1] != left_out])
        return statistic({cell: tally.total(cell) for cell in cells})

    replicates = np.array([without(cluster) for cluster in clusters])
    count = len(clusters)
    error = math.sqrt((count - 1) / count * float(((replicates - replicates.mean()) ** 2).sum()))
    return without(None), stats.t.ppf(0.975, count - 1) * error


def test_wilson_is_scipys() -> None:
    for right, asked in [(0, 1), (1, 1), (3, 10), (0, 50), (50, 50), (700, 1000)]:
        expected = stats.binomtest(right, asked).proportion_ci(method="wilson")
        assert wilson(right / asked, asked) == pytest.approx((expected.low, expected.high))


def test_a_proportion_with_one_question_a_cluster_has_wilsons_interval() -> None:
    tally = tally_of(judged("a", [1] * 7 + [0] * 2 + [-1]))
    found = estimate(proportion("cor"), tally)
    expected = stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert found.method == "wilson"
    assert found.value == 70.0
    assert (found.low, found.high) == pytest.approx((100 * expected.low, 100 * expected.high))


def test_a_proportion_with_repeating_clusters_is_robust_to_them() -> None:
    rows = [("a", "x", {"n": 3, "cor": 3}), ("a", "y", {"n": 2, "cor": 0})]
    rows += [("a", "z", {"n": 4, "cor": 1}), ("a", "w", {"n": 1, "cor": 1})]
    found = estimate(proportion("cor"), tally_of(rows))
    # By hand: p = 1/2, residuals 3/2, -1, -1, 1/2, variance 4/3 * 9/2 / 100.
    error = math.sqrt(4 / 3 * 4.5) / 10
    half = stats.t.ppf(0.975, 3) * error * 100
    assert found == Estimate(50.0, max(0.0, 50 - half), min(100.0, 50 + half), "cluster")


def test_equal_clusters_give_the_t_interval_of_their_means() -> None:
    means = [1, 3, 2, 4, 2, 3, 3, 1]
    rows = [("a", str(place), {"n": 5, "cor": right}) for place, right in enumerate(means)]
    found = estimate(proportion("cor"), tally_of(rows))
    of_means = [100 * right / 5 for right in means]
    expected = stats.t.interval(
        0.95, len(means) - 1, loc=np.mean(of_means), scale=stats.sem(of_means)
    )
    assert (found.low, found.high) == pytest.approx(expected)


def test_a_partial_credit_is_not_a_coin() -> None:
    rows = [("a", str(place), {"n": 1, "cor": Fraction(place % 3, 2)}) for place in range(12)]
    assert estimate(proportion("cor"), tally_of(rows)).method == "cluster"


def test_clusters_without_a_whole_do_not_count() -> None:
    rows = judged("a", [1, 0, 0, 1])
    silent = [("a", f"silent{place}", {"n": 0, "missing": 1}) for place in range(90)]
    assert estimate(proportion("cor"), tally_of(rows + silent)) == estimate(
        proportion("cor"), tally_of(rows)
    )


def test_the_jackknife_of_a_mean_is_the_t_interval() -> None:
    scores = [1, 0, -1, 1, 1, 0, 1, 1, -1, 1, 0, 1]
    found = estimate(share("cor"), tally_of(judged("a", scores)))
    values = [100 * (score == 1) for score in scores]
    expected = stats.t.interval(0.95, 11, loc=np.mean(values), scale=stats.sem(values))
    assert found.method == "jackknife"
    assert (found.low, found.high) == pytest.approx(expected)


def test_the_jackknife_is_the_naive_one_with_clusters_in_several_cells() -> None:
    draw = random.Random(3)
    rows = [
        (cell, f"video{draw.randrange(12)}", {"n": 1, "hit": hit, "cor": hit * draw.randrange(2)})
        for cell in ("a", "b", "c")
        for hit in draw.choices([0, 1], k=20)
    ]
    figure = Figure(("average", "f1"), ("a", "b", "c"), mean_f1)
    value, half = naive_jackknife(rows, mean_f1, figure.cells)
    found = estimate(figure, tally_of(rows))
    assert found.value == value
    assert (found.low, found.high) == pytest.approx((value - half, value + half))


def test_intervals_stay_within_the_bounds() -> None:
    rows = [("a", "x", {"n": 9, "cor": 9}), ("a", "y", {"n": 9, "cor": 1})]
    for kind in (proportion("cor"), share("cor")):
        found = estimate(kind, tally_of(rows))
        assert (found.low, found.high) == (0.0, 100.0)


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
    expected = stats.binomtest(20, 20).proportion_ci(method="wilson")
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


def within_binomial(covered: int, trials: int, nominal: float) -> bool:
    """Not under nominal by more than three standard errors of the simulation.

    Nominal is .94 where the interval is right in the limit only.
    """
    return covered / trials >= nominal - 3 * math.sqrt(nominal * (1 - nominal) / trials)


def test_wilson_covers() -> None:
    draw, trials, covered = np.random.default_rng(11), 1000, 0
    for _ in range(trials):
        rows = judged("a", draw.binomial(1, 0.8, size=60).tolist())
        found = estimate(proportion("cor"), tally_of(rows))
        covered += found.low <= 80.0 <= found.high
    assert within_binomial(covered, trials, nominal=0.94)  # Wilson's own dip at n = 60, p = .8


def clustered(draw: np.random.Generator, cell: str, clusters: int) -> Iterator[Row]:
    """Clusters of 1 to 12 questions with a shared difficulty: mean .6, strongly correlated."""
    for number in range(clusters):
        asked = int(draw.integers(1, 13))
        right = int(draw.binomial(asked, draw.beta(1.2, 0.8)))
        yield cell, f"{cell}/{number}", {"n": asked, "cor": right, "hit": asked}


def test_the_robust_interval_covers_where_wilson_would_not() -> None:
    draw, trials, covered, naive = np.random.default_rng(12), 1000, 0, 0
    for _ in range(trials):
        tally = tally_of(clustered(draw, "a", 50))
        found = estimate(proportion("cor"), tally)
        covered += found.low <= 60.0 <= found.high
        low, high = wilson(found.value / 100, tally.total("a")["n"])
        naive += 100 * low <= 60.0 <= 100 * high
    assert within_binomial(covered, trials, nominal=0.94)
    assert naive / trials < 0.8


def test_the_jackknife_of_f1_covers() -> None:
    draw, trials, covered = np.random.default_rng(13), 1000, 0
    # hit .75, right if hit .8: precision .8, recall .6.
    truth = 100 * 2 * 0.8 * 0.6 / (0.8 + 0.6)
    figure = Figure(("f1",), ("a", "b"), mean_f1)
    for _ in range(trials):
        rows = [
            row
            for cell in ("a", "b")
            for row in judged(cell, draw.choice([1, -1, 0], p=[0.6, 0.15, 0.25], size=50).tolist())
        ]
        found = estimate(figure, tally_of(rows))
        covered += found.low <= truth <= found.high
    assert within_binomial(covered, trials, nominal=0.94)


def test_leaving_a_cluster_out_costs_what_its_cells_cost() -> None:
    """13 cells of 1,000 clusters each: what is left of a full jackknife stays countable."""
    draw, calls = random.Random(5), 0

    def counted(sums: Cells) -> float | None:
        nonlocal calls
        calls += 1
        return mean_f1(sums)

    rows = [row for task in TASKS for row in judged(task, draw.choices([-1, 0, 1], k=1000))]
    found = estimate(Figure(("average", "f1"), TASKS, counted), tally_of(rows))
    assert found.method == "jackknife"
    assert calls == 1 + 3 * 13  # clusters that contribute alike share one evaluation


def test_rounding_is_no_spread() -> None:
    """Floats of equal shares differ in the last bit from sum to sum; that is no interval."""

    def careless(sums: Cells) -> float | None:
        return 100 / sums["a"]["n"] * sums["a"]["cor"] if sums["a"].get("n") else None

    rows = [("a", str(part), {"n": 3 * part, "cor": part}) for part in range(1, 20)]
    without = {careless({"a": {"n": 570 - 3 * part, "cor": 190 - part}}) for part in range(1, 20)}
    assert len(without) > 1
    found = estimate(Figure(("share",), ("a",), careless), tally_of(rows))
    assert (found.low, found.high, found.method) == (None, None, "")


def test_one_cluster_has_no_interval_even_where_nothing_is_a_value() -> None:
    figure = Figure(("most",), ("a",), lambda sums: 1.0 * sums["a"].get("cor", 0))
    assert estimate(figure, tally_of([("a", "x", {"cor": 0})])) == Estimate(0.0)


def test_student_tends_to_the_normal() -> None:
    half = NormalDist().inv_cdf(0.975)
    rows = judged("a", [1, 0] * 5000)
    found = estimate(share("cor"), tally_of(rows))
    assert found.high - 50 == pytest.approx(half * 100 * 0.5 / math.sqrt(10000), rel=1e-3)
