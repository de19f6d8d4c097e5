"""Live intervals of runs whose jobs go out in that order, on simulated runs."""

from collections.abc import Callable, Sequence

import pytest
from tests.fakes.random_runs import at_most
from tests.fakes.simulated_run import BENCHMARKS, LOOKS, SimulatedRun

from caliper.pipeline.planning.publication_order import WINDOW, portions

RUNS, BIASED = 100, 50
SHARDS = {"one window": (1,), "several windows": (30, 100)}


def count_misses(
    name: str, runs: int, order: Callable[[SimulatedRun, int], Sequence[str]]
) -> list[int]:
    """In how many simulated runs the interval of each look misses the final figure."""
    missed = [0] * len(LOOKS)
    for seed in range(runs):
        run = SimulatedRun(name, seed)
        found = run.misses(order(run, seed))
        missed = [total + each for total, each in zip(missed, found, strict=True)]
    return missed


@pytest.mark.parametrize("shards", SHARDS.values(), ids=SHARDS)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_final_figure_lies_in_live_intervals_as_often_as_promised(
    name: str, shards: tuple[int, ...]
) -> None:
    missed = count_misses(name, RUNS, lambda run, seed: run.order(shards[seed % len(shards)]))
    assert all(at_most(times, 0.05, RUNS) for times in missed), missed


@pytest.mark.parametrize("name", BENCHMARKS)
def test_in_the_order_of_the_plan_it_would_not(name: str) -> None:
    missed = count_misses(name, BIASED, lambda run, _: run.plan_order)
    assert not any(at_most(times, 0.05, BIASED) for times in missed), missed


def test_larger_plans_have_windows_of_two_sizes() -> None:
    sizes = {max(len(window) for window, _ in portions(shards, 0)) for shards in (30, 100)}
    assert sizes == {15, 20}
    assert max(sizes) <= WINDOW < min(SHARDS["several windows"])
