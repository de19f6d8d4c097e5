"""The summary of a run's plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.run import SCHEMA, refuse_newer


@dataclass(frozen=True, slots=True)
class PlannedBenchmark:
    """One benchmark of a plan. `first` is its first dense index."""

    name: str
    first: int
    questions: int
    items: int
    samples: int


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The summary of a plan. Written after its shards: if it exists, they are complete.

    `digests` has the SHA-256 of each shard's lines; it is empty in plans of earlier releases.
    """

    run: str
    shards: int
    benchmarks: tuple[PlannedBenchmark, ...] = field(default_factory=tuple)
    digests: tuple[str, ...] = ()

    @property
    def questions(self) -> int:
        """All (question, repeat) pairs of the run; indices run from 0 to one less."""
        return sum(benchmark.questions for benchmark in self.benchmarks)

    def to_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, file: str = "") -> PlanSummary:
        """The summary that `to_json` wrote. Raises NewerSchema or InvalidInput."""
        refuse_newer(data.get("schema"), file)
        try:
            benchmarks = tuple(PlannedBenchmark(**part) for part in data["benchmarks"])
            digests = tuple(map(str, data.get("digests", ())))
            summary = cls(data["run"], data["shards"], benchmarks, digests)
        except (TypeError, KeyError) as error:
            raise InvalidInput(f"not a plan: {error}", file=file) from error
        if digests and len(digests) != summary.shards:
            message = f"not a plan: {len(digests)} digests of {summary.shards} shards"
            raise InvalidInput(message, file=file)
        return summary
