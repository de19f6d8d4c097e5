"""The results and figures that may be published."""

from __future__ import annotations

from collections.abc import Iterator

from caliper.adapters.phrases import state
from caliper.benchmarks.base import Better
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import NotReady
from caliper.core.report import BenchmarkReport, Estimate, Path
from caliper.core.run import RunState
from caliper.ports.sinks import Results


def refuse_unfinished(results: Results) -> None:
    """Raise NotReady for a run that is not complete, that was judged in part, or that ended early
    because the answer to a comparison was sure, and for one whose end is not known.
    """
    report = results.report
    if report.state != RunState.COMPLETE or results.spec.judge_share is not None:
        raise NotReady(f"only complete runs are published. {state(report)}")
    if not results.ended:
        raise NotReady(f"when the run {results.run} ended is not known")


def rankable_figures(part: BenchmarkReport) -> Iterator[tuple[Path, float, Estimate]]:
    """The path, value and estimate of the figures with a value of which more or less is better:
    no counts, no spreads.
    """
    definition = benchmark(part.name)
    for path, estimate in part.estimates.items():
        if estimate.value is not None and definition.direction(path) in (Better.MORE, Better.LESS):
            yield path, estimate.value, estimate
