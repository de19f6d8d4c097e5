"""The latest scores of suites: by training step, whatever comes late."""

from dataclasses import replace
from typing import Any

from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import checkpoint, suite
from tests.fakes.telemetry import RecordedTelemetry

from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryCause, EntryState
from caliper.pipeline.suites.latest import LatestScores
from caliper.pipeline.suites.loop import SuiteEvent
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.telemetry import CheckpointScored, Score


async def test_a_late_checkpoint_changes_nothing_and_a_new_version_begins_anew() -> None:
    registry, told = SuiteRegistry(MemoryStore(), FakeClock()), RecordedTelemetry()
    await registry.apply(suite())

    async def evaluated(step: int, version: str = "a" * 16, **more: bool) -> SuiteEvent:
        await registry.register(suite(version=version), checkpoint(step))
        stored, _ = await registry.entries("nightly", version)
        (key,) = (each.key for each in stored if each.entry.checkpoint.step == step)
        await registry.change_entry(key, EntryCause.CLAIM)
        figures = (
            EntryFigure("capability", "average.f1", float(step), is_headline=True),
            EntryFigure("capability", "tasks.OCR.f1", 2.0, 1.0, 3.0),
            EntryFigure("capability", "tasks.OCR.items", 9.0),
        )
        fields = {"figures": figures, "is_complete": True, **more}
        entry = await registry.change_entry(key, EntryCause.NO_GATE, **fields)
        return SuiteEvent("nightly", "evaluated", entry)

    await evaluated(20)
    latest = LatestScores(told)
    await latest.read(registry, ["nightly"])
    latest.on_event(await evaluated(10))
    latest.on_event(await evaluated(40, is_complete=False))
    latest.on_event(await evaluated(30))
    latest.on_event(await evaluated(5, "b" * 16))
    latest.on_event(SuiteEvent("nightly", "unreadable", None))

    def scored(step: int) -> CheckpointScored:
        figures = {("average", "f1"): Score(float(step)), ("OCR", "f1"): Score(2.0, 1.0, 3.0)}
        return CheckpointScored("nightly", step, {"capability": figures})

    assert told.events == [scored(20), scored(30), scored(5)]


def test_a_decided_checkpoint_counts_with_the_share_of_its_questions_that_was_judged() -> None:
    told = RecordedTelemetry()
    latest = LatestScores(told)

    def ended(step: int, **more: Any) -> None:
        figures = (EntryFigure("capability", "average.f1", 40.0, 38.0, 42.0, is_headline=True),)
        fields = {"state": EntryState.PASSED, "figures": figures, "asked": 20, **more}
        entry = replace(CheckpointEntry.new("nightly", "a", checkpoint(step), "now"), **fields)
        latest.on_event(SuiteEvent("nightly", "passed", entry))

    ended(1, is_complete=True)
    ended(2, saved=60, reused=20, findings=({"figure": "average.f1"},))
    # Cut short by its budget: its figures may be of any part.
    ended(3, saved=60, state=EntryState.INCONCLUSIVE)
    scores = {"capability": {("average", "f1"): Score(40.0, 38.0, 42.0)}}
    assert told.events == [
        CheckpointScored("nightly", 1, scores, 1.0),
        CheckpointScored("nightly", 2, scores, 0.4),
    ]
