"""The jackknife over clusters against the textbook's, and what it costs."""

import math
import random
from statistics import NormalDist

import numpy as np
import pytest
import scipy
from tests.fakes.tallies import Cells, Row, judged, mean_f1, share, tally_of

from caliper.analysis.intervals import effective_interval, estimate
from caliper.analysis.jackknife import jackknife
from caliper.core.report import Estimate, Figure, Statistic

BOUNDLESS = (-math.inf, math.inf)
TASKS = tuple(f"task{number}" for number in range(13))


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
    return without(None), scipy.stats.t.ppf(0.975, count - 1) * error


def test_the_jackknife_of_a_mean_is_the_t_interval() -> None:
    scores = [1, 0, -1, 1, 1, 0, 1, 1, -1, 1, 0, 1]
    found = estimate(share("cor", bounds=BOUNDLESS), tally_of(judged("a", scores)))
    values = [100 * (score == 1) for score in scores]
    expected = scipy.stats.t.interval(0.95, 11, loc=np.mean(values), scale=scipy.stats.sem(values))
    assert found.method == "jackknife"
    assert (found.low, found.high) == pytest.approx(expected)


def test_the_jackknife_is_the_naive_one_with_clusters_in_several_cells() -> None:
    draw = random.Random(3)
    rows = [
        (cell, f"video{draw.randrange(12)}", {"n": 1, "hit": hit, "cor": hit * draw.randrange(2)})
        for cell in ("a", "b", "c")
        for hit in draw.choices([0, 1], k=20)
    ]
    figure = Figure(("average", "f1"), ("a", "b", "c"), mean_f1, bounds=BOUNDLESS)
    value, half = naive_jackknife(rows, mean_f1, figure.cells)
    found = estimate(figure, tally_of(rows))
    assert found.value == value
    assert (found.low, found.high) == pytest.approx((value - half, value + half))


def test_zeros_that_a_withdrawn_sum_leaves_change_no_bit() -> None:
    for clusters in range(3, 40):
        rows = [
            ("a", f"video{place}", {"n": 1, "hit": 1, "cor": int(place % 3 == 0)})
            for place in range(clusters)
        ]
        left = tally_of(rows)
        for place in range(1, clusters, 2):
            left.add("a", f"video{place}", unscored=1)
            left.withdraw([("a", f"video{place}", {"unscored": 1})])
        statistic = share("cor").statistic
        found, expected = (
            jackknife({"a": tally.clusters("a")}, statistic) for tally in (left, tally_of(rows))
        )
        assert found == expected


def test_between_bounds_the_jackknifes_error_is_that_of_a_share() -> None:
    scores = [1, 0, -1, 1, 1, 0, 1, 1, -1, 1, 0, 1]
    values = [score == 1 for score in scores]
    error = float(scipy.stats.sem(values))
    for bounds, scale, start in (((0.0, 100.0), 100, 0), ((-100.0, 100.0), 200, -100)):
        found = estimate(share("cor", bounds=bounds), tally_of(judged("a", scores)))
        between = (100 * float(np.mean(values)) - start) / scale
        expected = effective_interval(between, 100 * error / scale, len(scores))
        assert (found.low, found.high) == pytest.approx([start + scale * one for one in expected])


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
