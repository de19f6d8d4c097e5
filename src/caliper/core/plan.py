"""What planning made of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.run import SCHEMA, refuse_newer


@dataclass(frozen=True, slots=True)
class PlannedBenchmark:
    """What planning made of one benchmark: `first` is its first dense index."""

    name: str
    first: int
    questions: int
    items: int
    samples: int


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The end of a plan: written after its shards, so that its presence says they are whole."""

    run: str
    shards: int
    benchmarks: tuple[PlannedBenchmark, ...] = field(default_factory=tuple)

    @property
    def questions(self) -> int:
        """All (question, repeat) pairs of the run: indices go from 0 to this."""
        return sum(planned.questions for planned in self.benchmarks)

    def to_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, written: Mapping[str, Any], *, file: str = "") -> PlanSummary:
        """The summary that `to_json` wrote. Raises NewerSchema or InvalidInput."""
        refuse_newer(written.get("schema"), file)
        try:
            benchmarks = tuple(PlannedBenchmark(**part) for part in written["benchmarks"])
            return cls(written["run"], written["shards"], benchmarks)
        except (TypeError, KeyError) as error:
            raise InvalidInput(f"not a plan: {error}", file=file) from error
