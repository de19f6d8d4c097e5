"""Live intervals of runs whose jobs go out in that order, on simulated runs."""

import pytest
from tests.fakes.random_runs import at_most
from tests.fakes.simulated_run import BENCHMARKS, LOOKS, SimulatedRun

RUNS = 25


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_final_figure_lies_in_live_intervals_as_often_as_promised(name: str) -> None:
    missed = [0] * (len(LOOKS) - 1)
    for seed in range(RUNS):
        *live, final = SimulatedRun(name, seed).headlines()
        assert final.value is not None
        for look, estimate in enumerate(live):
            assert estimate.low is not None
            assert estimate.high is not None
            missed[look] += not estimate.low <= final.value <= estimate.high
    assert all(at_most(times, 0.05, RUNS) for times in missed), missed
