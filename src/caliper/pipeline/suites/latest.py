"""The scores of each suite's latest checkpoint as telemetry: dashboards draw trends from them."""

from __future__ import annotations

from collections.abc import Sequence

from caliper.core.checkpoints import CheckpointEntry
from caliper.pipeline.live.scores import label_of
from caliper.pipeline.suites.loop import SuiteEvent
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.telemetry import CheckpointScored, Score, Telemetry


class LatestScores:
    """Records the checkpoint with the highest training step that was judged in full or decided;
    late ones change nothing.
    """

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._latest: dict[str, CheckpointEntry] = {}

    async def read(self, registry: SuiteRegistry, names: Sequence[str]) -> None:
        """Begin with what these suites have. Raises what the registry raises."""
        for name in names:
            record = await registry.record(name)
            stored, _ = await registry.entries(name, record.suite.version)
            for each in stored:
                self._look_at(each.entry)

    def on_event(self, event: SuiteEvent) -> None:
        """Something happened to a checkpoint."""
        if event.entry is not None:
            self._look_at(event.entry)

    def _look_at(self, entry: CheckpointEntry) -> None:
        before = self._latest.get(entry.suite)
        if entry.is_open or entry.extent == "incomplete":
            return
        if before and before.version == entry.version and before.order > entry.order:
            return
        self._latest[entry.suite] = entry
        scores: dict[str, dict[tuple[str, str], Score]] = {}
        for one in entry.figures:
            label = label_of(one.benchmark, tuple(one.path.split(".")))
            # Counts and spreads, which have no interval, are in reports only.
            if label is not None and (one.is_headline or one.low is not None):
                scores.setdefault(one.benchmark, {})[label] = Score(one.value, one.low, one.high)
        step = entry.checkpoint.step
        self._telemetry.record(CheckpointScored(entry.suite, step, scores, entry.judged_share))
