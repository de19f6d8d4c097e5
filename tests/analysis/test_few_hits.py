"""Figures whose denominator few media contribute to: 878 media, of which two are mentioned."""

from collections.abc import Sequence

import pytest
import scipy
from tests.fakes.few_hits import figure_of

from caliper.analysis.compare import Difference, difference
from caliper.analysis.gate import Check, Decision, GateSide, Policy, gate
from caliper.analysis.intervals import estimate
from caliper.benchmarks.registry import benchmark
from caliper.core.report import Estimate
from caliper.core.tally import Tally

MEDIA = 878
WHOLE = GateSide(complete=True, coverage={"capability": 1.0})


def run(**tasks: Sequence[int]) -> Tally:
    """A score a medium, 1, 0 (not mentioned) or -1, for each task; the rest is not mentioned."""
    tally = Tally()
    for task, scores in tasks.items():
        for place in range(MEDIA):
            score = scores[place] if place < len(scores) else 0
            amounts = {"scored": 1, "hit": int(score != 0), "correct": int(score == 1)}
            tally.add(f"caption/{task}/0", f"{task}-{place}", **amounts, unscored=0)
    return tally


def told(tally: Tally, *path: str) -> Estimate:
    return estimate(figure_of(tally, *path), tally)


def wilson(right: int, hits: int) -> tuple[float, float]:
    found = scipy.stats.binomtest(right, hits).proportion_ci(method="wilson")
    return 100 * found.low, 100 * found.high


@pytest.mark.parametrize(("right", "wrong"), [(2, 0), (0, 2), (20, 0), (4, 1), (1, 0)])
def test_precision_rests_on_hits(right: int, wrong: int) -> None:
    found = told(run(event=[1] * right + [-1] * wrong), "tasks", "event", "precision")
    assert (found.low, found.high) == pytest.approx(wilson(right, right + wrong))


def test_two_of_two_are_next_to_nothing() -> None:
    found = told(run(event=[1, 1]), "tasks", "event", "precision")
    assert (found.value, found.high) == (100.0, 100.0)
    assert found.low == pytest.approx(34.2, abs=0.1)


def test_precision_without_a_hit_is_not_known() -> None:
    assert told(run(event=[]), "tasks", "event", "precision") == Estimate(0.0)


def test_f1_of_nothing_may_be_that_of_the_greatest_recall() -> None:
    """F1 = 2 recall / (1 + recall) at the best precision."""
    recall = told(run(event=[]), "tasks", "event", "recall").high / 100
    found = told(run(event=[]), "tasks", "event", "f1")
    assert found.high / 100 == pytest.approx(2 * recall / (1 + recall), rel=0.02)


def test_f1_of_all_right_rests_on_all_media() -> None:
    found = told(run(event=[1] * MEDIA), "tasks", "event", "f1")
    assert (found.low, found.high) == pytest.approx(wilson(MEDIA, MEDIA))


def test_an_average_is_no_surer_than_a_task_of_two_hits() -> None:
    """The other task alone would give it some two points to either side."""
    tally = run(event=[1, 1], scene=[1] * 400 + [-1] * 300)
    found = told(tally, "average", "precision")
    # Half of what event leaves open.
    assert found.low < found.value - (100 - 34.2) / 2
    assert found.value + 1 < found.high < found.value + 3


def compared(before: Tally, after: Tally, *path: str) -> Difference:
    return difference(figure_of(after, *path), before, after)


FEW = [
    ([1] * 5, [1] * 3),
    ([1] * 5, [0] * 5 + [1] * 3),
    ([1] * 2, [1] * 700 + [-1] * 100),
    ([1] * 700 + [-1] * 100, [1] * 2),
]


@pytest.mark.parametrize(("before", "after"), FEW)
def test_a_gate_does_not_pass_on_a_few_hits(before: list[int], after: list[int]) -> None:
    found = compared(run(event=before), run(event=after), "tasks", "event", "precision")
    assert found.low < -5
    assert found.high > 5
    assert found.adjusted is None
    assert found.p > 0.05
    policy = Policy((Check("capability", "tasks.event.precision", max_drop=1.0),))
    figures = {"capability": {("tasks", "event", "precision"): found}}
    assert gate(policy, figures, WHOLE, WHOLE).decision is Decision.INCONCLUSIVE


def test_five_hits_and_three_are_as_sure_as_three() -> None:
    found = compared(run(event=[1] * 5), run(event=[1] * 3), "tasks", "event", "precision")
    assert (found.alike, found.clusters, found.paired) == (3, 5, 3)
    bound = scipy.stats.binomtest(0, 3).proportion_ci(method="exact").high
    assert (found.low, found.high) == pytest.approx((-100 * bound, 100 * bound))


def test_degrees_of_freedom_go_by_hits() -> None:
    before, after = [1, 1, -1, 1], [1, -1, -1, 1, 1]
    found = compared(run(event=before), run(event=after), "tasks", "event", "precision")
    assert found.degrees == 3
    f1 = compared(run(event=before), run(event=after), "tasks", "event", "f1")
    assert f1.degrees == MEDIA - 1


def test_the_difference_of_averages_is_no_surer_than_that_of_a_task_of_two_hits() -> None:
    scene = [1] * 400 + [-1] * 300
    found = compared(
        run(event=[1, 1], scene=scene), run(event=[1, 1], scene=scene[1:]), "average", "precision"
    )
    bound = scipy.stats.binomtest(0, 2).proportion_ci(method="exact").high
    assert found.high - found.value > 100 * bound / 2


def test_runs_on_the_same_media_are_no_less_sure_for_one_that_has_all_right() -> None:
    """878 of 878 against 860: the pairs tell all; the one that is at its bound adds nothing."""
    scores = [1] * 860 + [-1] * 18
    found = compared(run(event=[1] * MEDIA), run(event=scores), "tasks", "event", "recall")
    assert found.error == pytest.approx(100 * (860 / MEDIA * 18 / MEDIA / (MEDIA - 1)) ** 0.5)


def test_cannot_answer_rests_on_the_questions_that_offer_it() -> None:
    tally = Tally()
    for place in range(300):
        amounts = {"scored": 1, "points": 1, "correct": 1, "cannot": 0, "offered": int(place < 3)}
        for cell in ("natural", "document"):
            tally.add(f"caption/{cell}", f"{cell}-{place}", **amounts, unscored=0)
    layout = benchmark("captionqa").report(tally, {})
    figures = {figure.path: figure for figure in layout.figures}
    for path, offered in ((("overall", "cannot"), 6), (("domains", "natural", "cannot"), 3)):
        assert estimate(figures[path], tally).high == pytest.approx(wilson(0, offered)[1])


def test_attributes_of_what_is_mentioned_rest_on_pictures_that_mention_something() -> None:
    tally = Tally()
    for place in range(300):
        seen = {"sum": 5, "n": 1} if place < 4 else {}
        tally.add("attribute/0", f"p{place}", **seen, scored=1, unscored=0)
        tally.add("objects", f"p{place}", sum=place % 2, n=1, scored=1, unscored=0)
        tally.add("relation/0", f"p{place}", sum=1 + place % 3, n=1, scored=1, unscored=0)
    layout = benchmark("comprecap").report(tally, {"attribute_over": "mentioned"})
    figures = {figure.path: figure for figure in layout.figures}
    found = estimate(figures["s_attribute",], tally)
    assert found.low == pytest.approx(5 * wilson(4, 4)[0] / 100)
    unified = estimate(figures["s_unified",], tally)
    # A weight of .35 on 0 to 100.
    assert unified.low < unified.value - 0.35 * (100 - wilson(4, 4)[0])
