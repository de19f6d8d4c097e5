"""Intervals of one run, held against true values that are known."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from tests.fakes.random_runs import F1, RECALL
from tests.fakes.tallies import Row, judged, mean_f1, proportion, tally_of

from caliper.analysis.intervals import estimate, wilson
from caliper.core.report import Figure
from caliper.core.tally import Tally


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


@pytest.mark.parametrize("right", [0.9, 0.97, 0.99])
def test_intervals_near_a_bound_cover_all_the_same(right: float) -> None:
    """40 media with one to six questions, nearly all right: t intervals cover .84 to .93."""
    draw, trials = np.random.default_rng(14), 1000
    found = []
    for _ in range(trials):
        tally = Tally()
        sizes = draw.integers(1, 6, size=40, endpoint=True)
        correct = draw.binomial(sizes, draw.beta(5 * right, 5 * (1 - right), size=40))
        hit = correct + draw.binomial(sizes - correct, 0.5)
        for place, (n, cor, told) in enumerate(
            zip(sizes.tolist(), correct.tolist(), hit.tolist(), strict=True)
        ):
            tally.add("all", f"m{place}", n=n, cor=cor, hit=told)
        found.append((estimate(RECALL, tally), estimate(F1, tally)))
    truths = (100 * right, 200 * right / (1 + right + (1 - right) / 2))
    for place, truth in enumerate(truths):
        covered = sum(each[place].low <= truth <= each[place].high for each in found)
        assert within_binomial(covered, trials, nominal=0.92)
