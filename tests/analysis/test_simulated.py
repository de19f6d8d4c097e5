"""Checkpoints whose true difference is known: how often comparing and gating are wrong.

Every pair of runs looks at the same pictures, some harder than others for both, with one to
six questions each. 1,000 pairs a case; a rate is held against the interval that a binomial
count of 1,000 has.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.random import Generator
from scipy import stats

from caliper.analysis.compare import Difference, adjusted, compare, difference
from caliper.analysis.gate import Check, Decision, Policy, Side, gate
from caliper.analysis.intervals import estimate
from caliper.analysis.significance import LEVEL
from caliper.core.report import Figure, Kind
from caliper.core.tally import Sums, Tally

PAIRS = 1000
PICTURES = 120
WHOLE = Side(complete=True, coverage={"ours": 1.0})


def recall(sums: Mapping[str, Sums]) -> float | None:
    asked, right = (sums["all"].get(name, 0) for name in ("n", "cor"))
    return float(100 * right / asked) if asked else None


def f1(sums: Mapping[str, Sums]) -> float | None:
    asked, hit, right = (sums["all"].get(name, 0) for name in ("n", "hit", "cor"))
    return float(200 * right / (asked + hit)) if asked else None


RECALL = Figure(("recall",), ("all",), recall, Kind.PROPORTION, shares=("cor", "n"))
F1 = Figure(("f1",), ("all",), f1)
FIGURES = (RECALL, F1)


def pair(draw: Generator, gain: float = 0.0, most: int = 6) -> tuple[Tally, Tally]:
    """Two runs; the second is right in `gain` more of all questions, on average."""
    first, second = side_by_side(draw, (max(0.0, -gain), max(0.0, gain)), abs(gain), most)
    return first, second


def side_by_side(
    draw: Generator, shifts: Sequence[float], reach: float = 0.0, most: int = 6
) -> list[Tally]:
    """Runs over the same pictures, each easier by its shift, of which `reach` is the largest."""
    sizes = draw.integers(1, most, size=PICTURES, endpoint=True)
    ease = draw.beta(2.0, 2.0, size=PICTURES) * (1 - reach)
    tallies = []
    for shift in shifts:
        right = draw.binomial(sizes, ease + shift)
        hit = right + draw.binomial(sizes - right, 0.5)
        tally = Tally()
        for place in range(PICTURES):
            amounts = {"n": sizes[place], "cor": right[place], "hit": hit[place]}
            numbers = {name: int(amount) for name, amount in amounts.items()}
            tally.add("all", f"picture-{place}", **numbers)
        tallies.append(tally)
    return tallies


def compared(seed: int, gain: float = 0.0, most: int = 6) -> list[dict[str, Difference]]:
    draw = np.random.default_rng(seed)
    found = (compare(FIGURES, *pair(draw, gain, most)) for _ in range(PAIRS))
    return [{path[0]: one for path, one in each.items()} for each in found]


def within(count: int, share: float, total: int = PAIRS) -> bool:
    """Whether a count is what a binomial of that share gives 999 times in 1,000."""
    low, high = stats.binom.interval(0.999, total, share)
    return bool(low <= count <= high)


@pytest.mark.parametrize("most", [1, 6])
def test_equal_checkpoints_are_told_apart_as_often_as_the_level_says(most: int) -> None:
    found = compared(11, most=most)
    alarms = sum(each["f1"].p < LEVEL for each in found)
    assert within(alarms, LEVEL)
    exact = sum(each["recall"].p < LEVEL for each in found)
    # McNemar's test is exact: it may raise fewer alarms than the level, never more.
    assert within(exact, LEVEL) or (most == 1 and exact < LEVEL * PAIRS)


def test_many_candidates_raise_no_more_alarms_than_one() -> None:
    draw = np.random.default_rng(20)
    alarms = alone = 0
    for _ in range(PAIRS):
        base, *others = side_by_side(draw, [0.0] * 6)
        found = adjusted([{F1.path: difference(F1, base, other)} for other in others])
        alarms += any(each[F1.path].adjusted < LEVEL for each in found)
        alone += any(each[F1.path].p < LEVEL for each in found)
    # Holm's adjustment promises no more; candidates that share a base hang together, so fewer.
    assert alarms <= stats.binom.ppf(0.999, PAIRS, LEVEL)
    assert alone > 2 * LEVEL * PAIRS


@pytest.mark.parametrize("gain", [0.0, 0.05, -0.2])
def test_the_interval_of_a_difference_covers_the_true_one(gain: float) -> None:
    found = compared(12, gain)
    covered = sum(each["recall"].low <= 100 * gain <= each["recall"].high for each in found)
    assert within(covered, 0.95)


def test_differences_of_the_detectable_size_are_found_as_often_as_stated() -> None:
    size = np.mean([each["recall"].detectable for each in compared(13)])
    found = compared(14, size / 100)
    clear = sum(each["recall"].p < LEVEL for each in found)
    # Being easier everywhere leaves less chance than the equal checkpoints had: a little more.
    assert 0.75 * PAIRS <= clear <= 0.95 * PAIRS


def test_the_interval_of_one_run_covers_its_true_share() -> None:
    draw = np.random.default_rng(15)
    runs = [pair(draw)[0] for _ in range(PAIRS)]
    found = [estimate(RECALL, run) for run in runs]
    covered = sum(one.low <= 50.0 <= one.high for one in found)
    assert within(covered, 0.95)


def gated(seed: int, gain: float, margin: float) -> dict[Decision, int]:
    draw = np.random.default_rng(seed)
    check = Check("ours", "recall", max_drop=margin)
    found = [
        gate(
            Policy((check,)), {"ours": compare((RECALL,), *pair(draw, gain))}, WHOLE, WHOLE
        ).decision
        for _ in range(PAIRS)
    ]
    return {decision: found.count(decision) for decision in Decision}


def test_a_drop_that_is_just_allowed_is_rarely_called_a_regression_or_passed() -> None:
    counts = gated(16, -0.05, margin=5.0)
    assert within(counts[Decision.REGRESSION], LEVEL)
    assert within(counts[Decision.PASSED], LEVEL)


def test_what_is_clearly_better_or_worse_is_decided() -> None:
    assert gated(17, 0.1, margin=2.0)[Decision.PASSED] > 0.95 * PAIRS
    assert gated(18, -0.2, margin=2.0)[Decision.REGRESSION] > 0.95 * PAIRS


def test_many_checks_raise_no_more_alarms_than_one() -> None:
    draw = np.random.default_rng(19)
    alarms = 0
    policy = Policy((Check("ours", "task-*", max_drop=0.0),))
    for _ in range(300):
        figures = {(f"task-{n}",): compare((RECALL,), *pair(draw))[("recall",)] for n in range(8)}
        alarms += gate(policy, {"ours": figures}, WHOLE, WHOLE).decision is Decision.REGRESSION
    assert alarms <= stats.binom.ppf(0.999, 300, LEVEL)
