"""What a loop reads of ten thousand entries at each turn."""

from dataclasses import replace

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suite_loops import Surroundings
from tests.fakes.suites import FakeEvaluator, checkpoint, suite

from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.suites import Suite
from caliper.pipeline.suites import history
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.pipeline.suites.history import EntryHistory
from caliper.pipeline.suites.registry import SuiteRegistry

FIGURES = (
    EntryFigure("capability", "average.f1", 1.0, is_headline=True),
    EntryFigure("capability", "average.recall", 2.0),
)


class Comparing(FakeEvaluator):
    """Gives every checkpoint the figures, and keeps the baselines that it was handed."""

    def __init__(self) -> None:
        super().__init__()
        self.baselines: list[CheckpointEntry | None] = []

    async def evaluate(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        self.baselines.append(baseline.entry)
        result = await super().evaluate(suite, claim, baseline)
        return replace(result, fields={**result.fields, "figures": FIGURES})


async def test_a_baseline_has_all_figures_when_a_checkpoint_is_evaluated() -> None:
    around = Surroundings()
    around.evaluator = evaluator = Comparing()
    await around.applied()
    around.arriving = [checkpoint(1), checkpoint(2)]
    await around.once()
    first, _ = await around.entries()
    assert first.figures == FIGURES
    # Those of a decided check count from the baseline's, headline or not.
    assert evaluator.baselines == [None, first]


async def test_a_look_reads_what_is_open_and_a_page_of_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "PAGE", 10)
    store = MemoryStore()
    registry = SuiteRegistry(store, FakeClock())
    for step in range(40):
        await registry.register(suite(), checkpoint(step))
    stored, _ = await registry.entries("nightly")
    for each in stored[:35]:
        await registry.change_entry(each.key, EntryCause.CLAIM)
        await registry.change_entry(each.key, EntryCause.NO_GATE, figures=FIGURES)
    seen = EntryHistory(registry)
    first, _ = await seen.entries("nightly")
    assert [each.entry.checkpoint.step for each in first] == list(range(40))
    assert first[0].entry.headline == FIGURES[0]
    assert first[0].entry.figures == FIGURES[:1]
    store.calls.clear()
    await seen.entries("nightly")
    assert store.count("version") == 5 + 10
    # One that somebody retries is seen when its page comes, one that is new or gone at once.
    await registry.change_entry(stored[30].key, EntryCause.RETRY)
    await registry.register(suite(), checkpoint(40))
    await store.delete(stored[39].key)
    await store.put(stored[38].key, b"{")
    found, unreadable = await seen.entries("nightly")
    assert [each.entry.checkpoint.step for each in found][-3:] == [36, 37, 40]
    assert [each.key for each in unreadable] == [stored[38].key]
    states = []
    for _ in range(4):
        found, _ = await seen.entries("nightly", suite().version)
        states.append(found[30].entry.state)
    assert states[-1] is EntryState.REGISTERED
    assert await seen.entries("nightly", "b" * 16) == ([], [])
