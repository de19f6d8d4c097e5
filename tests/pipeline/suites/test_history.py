"""What a loop reads of ten thousand entries at each turn."""

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import checkpoint, suite

from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause, EntryState
from caliper.pipeline.suites import history
from caliper.pipeline.suites.history import EntryHistory
from caliper.pipeline.suites.registry import SuiteRegistry


async def test_a_look_reads_what_is_open_and_a_page_of_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "PAGE", 10)
    store = MemoryStore()
    registry = SuiteRegistry(store, FakeClock())
    figures = (
        EntryFigure("capability", "average.f1", 1.0, is_headline=True),
        EntryFigure("capability", "average.recall", 2.0),
    )
    for step in range(40):
        await registry.register(suite(), checkpoint(step))
    stored, _ = await registry.entries("nightly")
    for each in stored[:35]:
        await registry.change_entry(each.key, EntryCause.CLAIM)
        await registry.change_entry(each.key, EntryCause.NO_GATE, figures=figures)
    seen = EntryHistory(registry)
    first, _ = await seen.entries("nightly")
    assert [each.entry.checkpoint.step for each in first] == list(range(40))
    assert first[0].entry.headline == figures[0]
    assert first[0].entry.figures == figures[:1]
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
