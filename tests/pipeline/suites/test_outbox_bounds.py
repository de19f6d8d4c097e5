"""The outbox: receivers that ask for time, clocks that are set back, and how much is kept."""

import pytest
from tests.fakes.outboxes import Desk, FakeTarget
from tests.fakes.suites import checkpoint, suite

from caliper.core.entry_states import EntryState
from caliper.core.errors import BackendOverloaded, BackendUnavailable
from caliper.pipeline.suites import outbox as outbox_module
from caliper.pipeline.suites.outbox import LONGEST_HOLD


@pytest.mark.parametrize(("asked", "until"), [(5.0, 10.0), (7_200.0, 7_200.0), (1e9, LONGEST_HOLD)])
async def test_a_target_that_asks_for_it_is_left_alone(asked: float, until: float) -> None:
    target = FakeTarget(errors=[BackendOverloaded("busy", asked)])
    desk = Desk(team=target)
    for step in (1, 2):
        await desk.registry.register(suite(), checkpoint(step))
    await desk.sweep()
    desk.clock.seconds += until - 1
    # Another process asks for nothing, either, unless the wait is over.
    await desk.sweep()
    assert target.tried == 1 + (asked < until - 1 < LONGEST_HOLD - 1)
    desk.clock.seconds += 2
    await desk.sweep()
    assert sorted(target.told) == ["step-1 registered", "step-2 registered"]


async def test_a_target_that_fails_in_any_way_ends_no_evaluation() -> None:
    # As of a host name with two dots.
    broken, other = FakeTarget(errors=[UnicodeError("label empty")] * 100), FakeTarget()
    desk = Desk(broken=broken, other=other)
    await desk.evaluate(1)
    (state,) = [each.entry.state for each in (await desk.registry.entries("nightly"))[0]]
    assert state is EntryState.EVALUATED
    (first, *_) = await desk.records()
    assert first.deliveries["broken"].error == "UnicodeError"
    assert other.told == ["step-1 registered", "step-1 started", "step-1 decided"]


async def test_a_clock_that_was_ahead_delays_nothing_for_long() -> None:
    target = FakeTarget(errors=[BackendUnavailable("refused")])
    desk = Desk(team=target)
    await desk.registry.register(suite(), checkpoint(1))
    desk.clock.seconds += 400 * 86_400
    await desk.sweep()
    desk.clock.seconds -= 400 * 86_400
    await desk.sweep()
    assert target.told == ["step-1 registered"]


async def test_old_events_are_removed_and_told_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "KEPT", 10)
    monkeypatch.setattr(outbox_module, "_SLACK", 2)
    broken, target = FakeTarget(), FakeTarget()
    desk = Desk(broken=broken, team=target)
    await desk.registry.register(suite(), checkpoint(0))
    broken.errors = [BackendUnavailable("refused")]
    outbox = desk.outbox()
    await desk.sweep(outbox)
    for step in range(1, 40):
        desk.clock.seconds += 0.1
        await desk.registry.register(suite(), checkpoint(step))
        await desk.sweep(outbox)
        assert len(await desk.notices.ids("nightly")) <= 13
    # What is not told yet stays, however old it is.
    assert (await desk.records())[0].notice.checkpoint == "step-0"
    desk.clock.seconds += 60
    await desk.sweep()
    await desk.sweep(desk.outbox())
    assert len(target.told) == len(set(target.told)) == 40
    assert len(broken.told) == len(set(broken.told)) == 40
