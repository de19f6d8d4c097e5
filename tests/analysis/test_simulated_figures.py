"""The figures people quote, over several cells and media with several questions: how often their
intervals hold the true value, of one run and of the difference of two.
"""

import numpy as np
import pytest
from tests.fakes.random_runs import within
from tests.fakes.whole_benchmarks import KNOWN, Known

from caliper.analysis.compare import difference
from caliper.analysis.intervals import estimate
from caliper.benchmarks.registry import benchmark

RUNS = 120


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.benchmark)
def test_intervals_of_the_headlines_hold_the_true_value(known: Known) -> None:
    draw = np.random.default_rng(21)
    assert benchmark(known.benchmark).report(known.pair(draw)[0], {}).headline == known.path
    before, after = known.truths
    alone = apart = 0
    for _ in range(RUNS):
        first, second = known.pair(draw)
        figure = known.figure(first)
        one = estimate(figure, first)
        alone += one.low <= before <= one.high
        both = difference(figure, first, second)
        apart += both.low <= after - before <= both.high
    assert within(alone, 0.95, RUNS)
    assert within(apart, 0.95, RUNS)
