"""The models whose scores are telemetry, by name and team."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from caliper.core.run import RunSpec
from caliper.pipeline.ledger.averages import PlannedAverages
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.windows import Place, RollingWindow, SampleScore
from caliper.ports.telemetry import Window


@dataclass(slots=True)
class ModelGauges:
    """A model: its latest run (started at `started`, in milliseconds since 1970), its windows,
    and the scores that have `changed` since they were last recorded.
    `in_memory` turns False when the aggregator drops the run; `run` turns None once its last scores
    are recorded, too.
    """

    run: RunLedger | None
    spec: RunSpec
    started: int
    changed: set[tuple[str, Window]]
    windows: dict[tuple[str, Window], RollingWindow] = field(default_factory=dict)
    averages: dict[str, PlannedAverages] = field(default_factory=dict)
    in_memory: bool = True

    @classmethod
    def of(cls, run: RunLedger, started: int) -> ModelGauges:
        """A model with only its latest run: no windows yet."""
        names = [part.name for part in run.spec.benchmarks] if run.ledger.known else ()
        return cls(run, run.spec, started, {(name, Window.RUN) for name in names})

    @property
    def behind(self) -> bool:
        """Whether scores of its run have changed since they were last recorded."""
        return any(window is Window.RUN for _, window in self.changed)


class ModelKey(NamedTuple):
    """The name of a model, and the team that named it so; empty without teams."""

    model: str
    team: str

    @classmethod
    def of(cls, run: RunLedger) -> ModelKey:
        return cls(run.spec.name or "unnamed", run.team)


class SampleChange(NamedTuple):
    """A sample whose outcomes changed at these places in the log."""

    run: RunLedger
    benchmark: str
    sample: str
    places: Collection[Place]
    judged: SampleScore
