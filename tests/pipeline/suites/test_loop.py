"""The loop: each checkpoint is evaluated once, whatever happens to the loop."""

import asyncio
from itertools import permutations

import pytest
from tests.fakes.suite_loops import Surroundings
from tests.fakes.suites import FakeEvaluator, checkpoint, suite

from caliper.core.entry_states import MOST_ATTEMPTS, MOST_CRASHES, EntryCause, EntryState
from caliper.core.errors import (
    BackendUnavailable,
    InvalidInput,
    NotReady,
    RunInUse,
    StoreUnavailable,
)
from caliper.core.suites import SuiteCause
from caliper.pipeline.aggregation.lease import TERM, Lease


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
async def test_what_is_delivered_twice_and_out_of_order_is_evaluated_once(
    around: Surroundings, order: tuple[int, ...]
) -> None:
    await around.applied()
    around.arriving = [checkpoint(step) for step in (*order, *order)]
    await around.once()
    around.arriving = [checkpoint(step) for step in order]
    await around.once()
    assert around.evaluator.evaluated == [
        ("nightly", "step-1", ""),
        ("nightly", "step-2", "step-1"),
        ("nightly", "step-3", "step-2"),
    ]
    assert [event for event in around.events if event[1] == "registered"] == [
        (f"step-{step}", "registered") for step in order
    ]
    assert all(b'"holder":""' in lease for lease in around.leases())


async def test_a_late_checkpoint_is_compared_with_the_one_before_it_in_training(
    around: Surroundings,
) -> None:
    await around.applied()
    for steps in ((10, 30), (20,)):
        around.arriving = [checkpoint(step) for step in steps]
        await around.once()
    assert around.evaluator.evaluated[-1] == ("nightly", "step-20", "step-10")


@pytest.mark.parametrize(
    ("baseline", "against"), [("best", "step-2"), ("pinned:rev1", "step-1"), ("tag:good", "step-1")]
)
async def test_the_baseline_is_chosen_by_the_rule(
    around: Surroundings, baseline: str, against: str
) -> None:
    around.evaluator = FakeEvaluator(lambda name: {"step-2": 60.0}.get(name, 50.0))
    await around.applied(baseline=baseline)
    around.arriving = [checkpoint(1, tags=("good",)), *map(checkpoint, (2, 3, 4))]
    await around.once()
    assert around.evaluator.evaluated[-1] == ("nightly", "step-4", against)
    assert around.evaluator.evaluated[0] == ("nightly", "step-1", "")


async def test_a_paused_suite_registers_and_a_retired_one_does_not(around: Surroundings) -> None:
    await around.applied()
    await around.registry.change("nightly", SuiteCause.PAUSE)
    around.arriving = [checkpoint(1)]
    await around.once()
    assert await around.states() == {"step-1": EntryState.REGISTERED}
    await around.registry.change("nightly", SuiteCause.RESUMPTION)
    await around.once()
    assert await around.states() == {"step-1": EntryState.EVALUATED}
    await around.registry.change("nightly", SuiteCause.RETIREMENT)
    around.arriving = [checkpoint(2)]
    await around.once()
    assert len(await around.entries()) == 1
    with pytest.raises(NotReady, match="the suite is retired and cannot be paused"):
        await around.registry.change("nightly", SuiteCause.PAUSE)


async def test_an_endpoint_that_is_down_is_waited_for(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1), checkpoint(2)]
    around.evaluator.errors = {"step-1": [BackendUnavailable("refused"), RunInUse("in use")]}
    await around.once()
    # The second waits with the first: it is its baseline.
    (first, second) = await around.entries()
    assert (first.state, first.reason) == (EntryState.WAITING, "refused")
    assert second.state is EntryState.REGISTERED
    await around.until_evaluated(2)
    assert (await around.entries())[0].attempts == 2


async def test_what_never_succeeds_fails_and_does_not_block(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1), checkpoint(2), checkpoint(3)]
    around.evaluator.errors = {
        "step-1": [BackendUnavailable("refused") for _ in range(MOST_ATTEMPTS)],
        "step-2": [InvalidInput("no captions")],
    }
    for _ in range(MOST_ATTEMPTS):
        await around.once()
    first, second, third = await around.entries()
    assert (first.state, first.reason) == (EntryState.FAILED, "refused")
    assert (second.state, second.reason) == (EntryState.FAILED, "no captions")
    assert third.state is EntryState.EVALUATED
    stored, _ = await around.registry.entries("nightly")
    await around.registry.change_entry(stored[0].key, EntryCause.RETRY, attempts=0)
    await around.once()
    assert (await around.states())["step-1"] is EntryState.EVALUATED


async def test_an_interrupted_entry_goes_on_at_once(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    around.evaluator.hold = asyncio.Event()
    loop = asyncio.create_task(around.loop().run(("nightly",), once=True))
    await around.evaluator.began.wait()
    assert await around.states() == {"step-1": EntryState.EVALUATING}
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    (entry,) = await around.entries()
    assert (entry.state, entry.attempts) == (EntryState.REGISTERED, 0)
    assert all(b'"holder":""' in lease for lease in around.leases())
    around.evaluator.hold, before = None, around.clock.seconds
    # Nobody waits for a term: the lease was released.
    await around.once()
    assert await around.states() == {"step-1": EntryState.EVALUATED}
    assert around.clock.seconds < before + TERM


async def crashed(around: Surroundings) -> None:
    """Leave an entry as a loop does that is killed while it evaluates."""
    await around.registry.register(suite(), checkpoint(1))
    (stored,), _ = await around.registry.entries("nightly")
    lease = Lease(around.store, around.clock, stored.lease_key)
    assert await lease.is_free()
    assert await lease.take()
    assert await around.registry.move(stored, EntryCause.CLAIM)


async def test_after_a_crash_another_loop_takes_over(around: Surroundings) -> None:
    await around.applied()
    await crashed(around)
    await around.once()
    assert around.clock.seconds >= TERM
    assert around.events == [("step-1", "taken over"), ("step-1", "evaluated")]
    assert around.evaluator.evaluated == [("nightly", "step-1", "")]
    assert all(b'"holder":""' in lease for lease in around.leases())


async def test_a_checkpoint_that_ends_its_loop_again_and_again_fails(around: Surroundings) -> None:
    await around.applied()
    await crashed(around)
    (stored,), _ = await around.registry.entries("nightly")
    await around.registry.move(stored, EntryCause.CLAIM, crashes=MOST_CRASHES - 1)
    await around.once()
    (entry,) = await around.entries()
    reason = "12 loops crashed while evaluating it"
    assert (entry.state, entry.reason) == (EntryState.FAILED, reason)


async def test_two_loops_share_the_work(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(step) for step in range(6)]
    await asyncio.gather(*(around.once() for _ in range(3)))
    assert [name for _, name, _ in around.evaluator.evaluated] == [f"step-{n}" for n in range(6)]


async def test_a_skip_ends_an_evaluation(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    around.evaluator.hold = asyncio.Event()
    loop = asyncio.create_task(around.loop().run(("nightly",), once=True))
    await around.evaluator.began.wait()
    (stored,), _ = await around.registry.entries("nightly")
    await around.registry.change_entry(stored.key, EntryCause.SKIP)
    await loop
    assert await around.states() == {"step-1": EntryState.SKIPPED}
    assert around.evaluator.abandoned == ["step-1"]


async def test_only_what_nobody_goes_on_with_is_abandoned(around: Surroundings) -> None:
    await around.applied(timeout=100)
    around.arriving = [checkpoint(1)]
    around.evaluator.hold = asyncio.Event()
    interrupted = asyncio.create_task(around.once())
    await around.evaluator.began.wait()
    interrupted.cancel()
    await asyncio.gather(interrupted, return_exceptions=True)
    assert await around.states() == {"step-1": EntryState.REGISTERED}
    assert around.evaluator.abandoned == []
    await around.once()
    assert await around.states() == {"step-1": EntryState.FAILED}
    assert around.evaluator.abandoned == ["step-1"]


async def test_open_entries_move_to_the_new_version_of_a_suite(around: Surroundings) -> None:
    await around.applied()
    await crashed(around)
    await around.registry.register(suite(), checkpoint(2))
    await around.applied(version="b" * 16)
    await around.once()
    states = {
        (each.version[0], each.checkpoint.step): each.state for each in await around.entries()
    }
    assert states == {
        ("a", 1): EntryState.SKIPPED,
        ("a", 2): EntryState.SKIPPED,
        ("b", 1): EntryState.EVALUATED,
        ("b", 2): EntryState.PASSED,
    }


async def test_a_store_that_is_gone_ends_the_loop(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    around.evaluator.errors = {"step-1": [StoreUnavailable("disk")]}
    with pytest.raises(StoreUnavailable):
        await around.once()
    assert await around.states() == {"step-1": EntryState.REGISTERED}


async def test_a_damaged_entry_is_named_once_and_harms_no_other(around: Surroundings) -> None:
    await around.applied()
    for step in (1, 2):
        await around.registry.register(suite(), checkpoint(step))
    (first, _), _ = await around.registry.entries("nightly")
    await around.store.put(first.key, b"{")
    await around.once()
    assert around.events[0] == (first.key, "unreadable")
    assert around.evaluator.evaluated == [("nightly", "step-2", "")]


@pytest.mark.parametrize("month", [{"foo": 1}, {"calls": "many"}, {"calls": True}, 5])
async def test_a_suite_whose_values_are_wrong_harms_no_other(
    around: Surroundings, month: object
) -> None:
    await around.registry.apply(suite("wrong", month=month))
    await around.registry.register(suite("wrong"), checkpoint(1))
    await around.applied()
    await around.registry.register(suite(), checkpoint(2))
    await around.once("wrong", "nightly")
    await around.once("wrong", "nightly")
    assert around.evaluator.evaluated == [("nightly", "step-2", "")]
    told, event = around.events[0]
    assert event == "unreadable"
    assert told.startswith("suite wrong: ")
    assert "budget.month" in told


async def test_a_checkpoint_fails_where_its_suite_has_a_wrong_limit(around: Surroundings) -> None:
    await around.applied(timeout="soon")
    around.arriving = [checkpoint(1)]
    await around.once()
    (entry,) = await around.entries()
    assert entry.state is EntryState.FAILED
    assert entry.reason == "suite nightly: timeout: expected a number of seconds"


async def test_a_lease_that_another_loop_took_since_stays(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    loop = around.loop()
    await loop.run(("nightly",), once=True)
    (stored,), _ = await around.registry.entries("nightly")
    await around.registry.change_entry(stored.key, EntryCause.RETRY)
    other = Lease(around.store, around.clock, stored.lease_key)
    assert await other.is_free()
    assert await other.take()
    # It knows the entry as one that is decided.
    await loop._remove_leases("nightly", [stored])
    assert stored.lease_key in around.store.objects
