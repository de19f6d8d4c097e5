import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from caliper.analysis.compare import Difference, adjust, compare
from caliper.core.report import Figure, Kind
from caliper.core.tally import Sums, Tally


def recall(sums: Mapping[str, Sums]) -> float | None:
    asked = sum(cell.get("n", 0) for cell in sums.values())
    right = sum(cell.get("cor", 0) for cell in sums.values())
    return 100 * right / asked if asked else None


RECALL = Figure(("recall",), ("a",), recall)


def run(scores: Mapping[str, int]) -> Tally:
    tally = Tally()
    for cluster, right in scores.items():
        tally.add("a", cluster, n=1, cor=right)
    return tally


def only(figure: Figure, first: Tally, second: Tally) -> Difference:
    return compare([figure], first, second)[figure.path]


def test_the_interval_is_the_paired_t_interval() -> None:
    draw = random.Random(1)
    first = {f"m{number}": draw.randrange(2) for number in range(40)}
    second = {name: right if draw.random() < 0.8 else 1 - right for name, right in first.items()}
    found = only(RECALL, run(first), run(second))
    gaps = [100 * (second[name] - first[name]) for name in first]
    expected = scipy.stats.t.interval(0.95, 39, loc=np.mean(gaps), scale=scipy.stats.sem(gaps))
    assert found.value == pytest.approx(np.mean(gaps))
    assert (found.low, found.high) == pytest.approx(expected)
    assert (found.method, found.clusters, found.paired) == ("jackknife", 40, 40)


def test_what_is_hard_for_both_cancels() -> None:
    """The paired interval is narrower than the two runs' own intervals would make it."""
    draw = np.random.default_rng(2)
    hard = draw.integers(0, 2, size=200)
    first = {f"m{number}": int(right) for number, right in enumerate(hard)}
    second = {name: right or int(draw.random() < 0.1) for name, right in first.items()}
    found = only(RECALL, run(first), run(second))
    spread = [np.var(list(scores.values()), ddof=1) / 200 for scores in (first, second)]
    unpaired = 100 * 1.96 * math.sqrt(sum(spread))
    assert (found.high - found.low) / 2 < unpaired / 2


def test_the_difference_turns_with_the_runs() -> None:
    first, second = run({"x": 1, "y": 0, "z": 1}), run({"x": 1, "y": 1, "z": 1})
    there, back = only(RECALL, first, second), only(RECALL, second, first)
    assert there.value == pytest.approx(100 / 3)
    assert (back.value, back.low, back.high) == (-there.value, -there.high, -there.low)


def test_equal_runs_differ_by_nothing_but_not_for_certain() -> None:
    scores = {f"m{number}": number % 2 for number in range(30)}
    found = only(RECALL, run(scores), run(scores))
    most = 100 * scipy.stats.binomtest(0, 30).proportion_ci(method="exact").high
    assert (found.value, found.method, found.paired) == (0.0, "exact", 30)
    assert (found.low, found.high) == pytest.approx((-most, most))
    assert (found.p, found.adjusted, found.error) == (1.0, 1.0, None)
    assert (found.alike, found.most) == (30.0, 100.0)


def test_equal_runs_of_a_figure_without_bounds_have_no_interval() -> None:
    scores = {f"m{number}": number % 2 for number in range(30)}
    boundless = replace(RECALL, bounds=(-math.inf, math.inf))
    found = only(boundless, run(scores), run(scores))
    assert (found.value, found.low, found.high, found.method) == (0.0, None, None, "")
    assert found.p == 1.0


def test_all_wrong_against_all_right_is_not_certain_either() -> None:
    names = [f"m{number}" for number in range(10)]
    found = only(RECALL, run(dict.fromkeys(names, 0)), run(dict.fromkeys(names, 1)))
    assert (found.value, found.high, found.method) == (100.0, 100.0, "exact")
    # All ten went up: of twice as large a range as a share's.
    low = scipy.stats.binomtest(10, 10).proportion_ci(method="exact").low
    assert found.low == pytest.approx(-100 + 200 * low)
    assert found.p == scipy.stats.binomtest(10, 10).pvalue


def test_a_constant_difference_between_the_bounds_is_the_sign_tests() -> None:
    first, second = Tally(), Tally()
    for cluster in "uvwxyz":
        first.add("a", cluster, n=2, cor=0)
        second.add("a", cluster, n=2, cor=1)
    found = only(RECALL, first, second)
    assert (found.value, found.method, found.error) == (50.0, "exact", None)
    assert -100 < found.low < 50 < found.high < 100
    assert found.p == 2 * 0.5**6
    assert only(RECALL, second, first).p == found.p


def test_figures_that_nothing_moves_are_tested_all_the_same() -> None:
    """Nothing right in either run, so that F1 is 0 without some media as well as with them."""

    def f1(sums: Mapping[str, Sums]) -> float | None:
        asked, hit, right = (sums["a"].get(name, 0) for name in ("n", "hit", "cor"))
        return 200 * right / (asked + hit) if asked else None

    first, second = Tally(), Tally()
    for number in range(8):
        first.add("a", f"m{number}", n=1, hit=1, cor=0)
        second.add("a", f"m{number}", n=1, hit=0, cor=0)
    found = only(Figure(("f1",), ("a",), f1), first, second)
    assert (found.value, found.p, found.method) == (0.0, 1.0, "exact")


def test_where_leaving_a_medium_out_leaves_no_data_the_signs_are_counted() -> None:
    """A mean of cells of which one has a single medium."""

    def mean(sums: Mapping[str, Sums]) -> float | None:
        values = [recall({"": cell}) for cell in sums.values()]
        known = [value for value in values if value is not None]
        return sum(known) / len(values) if len(known) == len(values) else None

    first, second = Tally(), Tally()
    for tally, right in ((first, 0), (second, 1)):
        tally.add("b", "alone", n=1, cor=0)
        for number in range(8):
            tally.add("a", f"m{number}", n=1, cor=right)
    found = only(Figure(("mean",), ("a", "b"), mean), first, second)
    assert (found.value, found.low, found.method) == (50.0, None, "")
    assert found.p == 2 * 0.5**8


def test_cells_of_which_nothing_moves_count_by_their_media() -> None:
    """4 and 400 media in two cells: the mean of both is as uncertain as its smaller cell."""

    def mean(sums: Mapping[str, Sums]) -> float | None:
        values = [recall({"": cell}) for cell in sums.values()]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    sides = (Tally(), Tally())
    for tally in sides:
        for cell, media in (("a", 4), ("b", 400)):
            for number in range(media):
                tally.add(cell, f"{cell}{number}", n=1, cor=number % 2)
    found = only(Figure(("mean",), ("a", "b"), mean), *sides)
    assert found.alike == pytest.approx(4 / (1 / 4 + 1 / 400))


def test_why_there_is_no_test() -> None:
    assert only(RECALL, Tally(), run({"x": 1})).untested_reason == "no data"
    count = Figure(("n",), ("a",), lambda sums: sums["a"].get("n", 0), Kind.COUNT)
    assert only(count, run({"x": 1}), run({"x": 1})).untested_reason == "not tested"
    assert only(RECALL, run({"x": 1}), run({"x": 1})).untested_reason == ""


def test_clusters_of_one_run_only_are_counted() -> None:
    found = only(RECALL, run({"x": 1, "y": 0, "z": 1}), run({"y": 1, "z": 0, "w": 1}))
    assert (found.clusters, found.paired) == (4, 2)


def test_no_data_in_one_run_is_no_difference() -> None:
    found = only(RECALL, Tally(), run({"x": 1, "y": 0}))
    assert (found.first, found.second, found.value, found.low) == (None, 50.0, None, None)


def test_a_single_cluster_has_no_interval() -> None:
    found = only(RECALL, run({"x": 1}), run({"x": 0}))
    assert (found.value, found.low, found.high) == (-100.0, None, None)
    assert found.p == 1.0


def test_counts_differ_without_an_interval() -> None:
    figure = Figure(("n",), ("a",), lambda sums: sums["a"].get("n", 0), Kind.COUNT)
    found = only(figure, run({"x": 1}), run({"x": 1, "y": 1}))
    assert (found.value, found.low, found.method) == (1, None, "")


@given(
    st.dictionaries(st.sampled_from("uvwxyz"), st.tuples(st.booleans(), st.booleans()), min_size=1),
    st.randoms(use_true_random=False),
)
def test_the_order_of_clusters_changes_no_bit(
    scores: dict[str, tuple[bool, bool]], draw: random.Random
) -> None:
    def both(names: Iterable[str]) -> list[Tally]:
        return [run({name: int(scores[name][side]) for name in names}) for side in (0, 1)]

    shuffled = draw.sample(sorted(scores), len(scores))
    assert compare([RECALL], *both(scores)) == compare([RECALL], *both(shuffled))


def test_several_candidates_are_looked_at_together() -> None:
    figures = {("f1",): Difference(1.0, 2.0, 1.0, p=0.02), ("n",): Difference(1, 1, 0)}
    alone = adjust([figures])
    both = adjust([figures, {("f1",): Difference(1.0, 3.0, 2.0, p=0.03)}])
    assert alone[0]["f1",].adjusted == 0.02
    assert [each["f1",].adjusted for each in both] == [0.04, 0.04]
    assert both[0]["n",] == figures["n",]
    assert figures["f1",].adjusted is None


def test_only_counts_are_whole_numbers() -> None:
    share = Figure(("s",), ("a",), lambda sums: sums["a"].get("n", 0))
    found = only(share, run({"x": 1}), run({"x": 1}))
    assert [type(value) for value in (found.first, found.second, found.value)] == [float] * 3
    count = only(replace(share, kind=Kind.COUNT), run({"x": 1}), run({"x": 1}))
    assert [type(value) for value in (count.first, count.second, count.value)] == [int] * 3
