"""What is asked of a run's verdicts: filters and a page."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.run import RunSpec
from caliper.pipeline.reports.facets import Facet, planned_kinds
from caliper.pipeline.store.plan import PlanReader


@dataclass(frozen=True, slots=True)
class VerdictQuery:
    """Filters and paging of verdicts. Empty filters match all; `token` continues a page."""

    benchmark: str = ""
    dimension: str = ""
    outcome: str = ""
    category: str = ""
    size: int = 0
    token: str = ""

    @property
    def filters(self) -> Facet:
        """Benchmark, dimension, outcome and category; an empty string matches any."""
        return (self.benchmark, self.dimension, self.outcome, self.category)

    def matches(self, facet: Facet) -> bool:
        """Whether a verdict with this facet matches the filters."""
        return all(value in ("", actual) for value, actual in zip(self.filters, facet, strict=True))


def check_filters(spec: RunSpec, query: VerdictQuery) -> None:
    """Raise InvalidInput for a benchmark or outcome that the run cannot have."""
    names = tuple(part.name for part in spec.benchmarks)
    if query.benchmark:
        _check_known("benchmark of the run", query.benchmark, names, "benchmark")
    if query.outcome:
        benchmarks = (query.benchmark,) if query.benchmark else names
        labels = dict.fromkeys(label for name in benchmarks for label in benchmark(name).labels)
        _check_known("outcome", query.outcome, tuple(labels), "outcome")


async def check_kinds(plan: PlanReader, query: VerdictQuery) -> None:
    """Raise InvalidInput for a dimension or category that the run does not have."""
    asked = {"dimension": query.dimension, "category": query.category}
    if any(asked.values()):
        known = await planned_kinds(plan, query.benchmark)
        for field, value in asked.items():
            if value:
                _check_known(f"{field} of the run", value, known[field], field)


def _check_known(kind: str, name: str, names: tuple[str, ...], field: str) -> None:
    if name not in names:
        raise InvalidInput(str(UnknownName(kind, name, names)), field=field)
