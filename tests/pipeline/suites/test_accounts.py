"""What a suite spends in a month, and what waits when that is used up."""

import asyncio
from dataclasses import replace

from tests.fakes.suite_loops import Surroundings
from tests.fakes.suites import checkpoint, suite

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.errors import BackendUnavailable
from caliper.core.spending import Spending
from caliper.pipeline.suites.accounts import SuiteAccounts, expected_spending, rest_spending

DAY = 86_400.0
COST = Spending(100, 2_000, 0.5)


def accounts(around: Surroundings) -> SuiteAccounts:
    return SuiteAccounts(around.store, around.clock, "nightly")


async def test_what_a_month_cannot_pay_waits_for_the_next() -> None:
    for kind, limit in (("calls", 250), ("tokens", 5_000), ("money", 1.2)):
        around = Surroundings()
        around.evaluator.cost = COST
        await around.applied(month={kind: limit})
        around.arriving = [checkpoint(step) for step in (1, 2, 3, 4)]
        await around.once()
        assert (await accounts(around).present()).totals.used == COST + COST
        _, _, third, fourth = await around.entries()
        assert (third.state, third.attempts) == (EntryState.WAITING, 0)
        assert third.reason.startswith("budget of 2026-01: ")
        assert third.reason.endswith("goes on 2026-02-01")
        assert fourth.state is EntryState.REGISTERED
        assert [event for event in around.events if event[1] == "waiting"] == [
            ("step-3", "waiting")
        ]
        # Another loop says so once more, and asks nothing.
        await around.once()
        assert [event for event in around.events if event[1] == "waiting"] == [
            ("step-3", "waiting")
        ] * 2
        assert len(around.evaluator.evaluated) == 2
        assert (await around.entries())[2].since == third.since
        around.clock.seconds += 31 * DAY
        await around.once()
        assert set((await around.states()).values()) == {EntryState.EVALUATED, EntryState.PASSED}


async def test_what_a_baseline_was_not_asked_is_part_of_the_estimate(
    around: Surroundings,
) -> None:
    around.evaluator.cost = COST
    suite = await around.applied(month={"calls": 500})
    entry, _ = await around.registry.register(suite, checkpoint(1))
    key = entry.key("entries")
    fields = {**COST.to_json(), "asked": 100, "saved": 350, "is_improved": True}
    await around.registry.change_entry(key, EntryCause.CLAIM)
    decided = await around.registry.change_entry(key, EntryCause.SUCCESS, run="r", **fields)
    assert rest_spending(decided) == Spending(350, 7_000, 1.75)
    around.arriving = [checkpoint(2)]
    await around.once()
    assert around.evaluator.evaluated == [("nightly", "step-2", "step-1")]
    around.arriving = [checkpoint(1, name="late", revision="late")]
    await around.once()
    late = (await around.entries())[1]
    assert late.state is EntryState.WAITING
    assert "100 of 500 calls used, and a checkpoint takes about 450 calls; goes on" in late.reason
    # Once it was judged in full, a checkpoint takes what others took.
    await around.registry.note_whole(decided, ())
    await around.once()
    assert [name for _, name, _ in around.evaluator.evaluated] == ["step-2", "late"]
    assert rest_spending((await around.entries())[0]) == Spending()


async def test_attempts_that_fail_are_paid_and_killed_ones_count_as_estimated(
    around: Surroundings,
) -> None:
    around.evaluator.cost = COST
    await around.applied(month={"calls": 1_000})
    around.evaluator.errors["step-1"] = [BackendUnavailable("away")]
    around.arriving = [checkpoint(1)]
    await around.once()
    around.clock.seconds += DAY
    await around.once()
    assert (await accounts(around).present()).totals.used == COST + COST
    (entry,) = await around.entries()
    assert entry.state is EntryState.EVALUATED
    begun = accounts(around)
    month, _ = await begun.begin(entry, {}, Spending(30))
    month, _ = await begun.begin(entry, {}, Spending(50))
    assert (await begun.present()).totals.used.calls == 200 + 30 + 50
    await begun.end(entry, month, Spending(1))
    assert (await begun.present()).totals.used.calls == 200 + 30 + 1


async def test_of_evaluations_that_begin_at_once_a_budget_allows_only_what_it_can_pay(
    around: Surroundings,
) -> None:
    await around.applied()
    entries = [(await around.registry.register(suite(), checkpoint(step)))[0] for step in range(5)]
    begun = (accounts(around).begin(entry, {"calls": 250}, COST) for entry in entries)
    refusals = [refusal for _, refusal in await asyncio.gather(*begun)]
    assert [bool(refusal) for refusal in refusals].count(False) == 2
    assert "200 of 250 calls used, and a checkpoint takes about 100" in max(refusals)


async def test_comparisons_are_numbered_once(around: Surroundings) -> None:
    numbers = [
        await accounts(around).comparison_number(version, revision)
        for version, revision in (("a", "x"), ("a", "y"), ("a", "x"), ("b", "y"))
    ]
    assert numbers == [1, 2, 1, 1]


async def test_a_loop_that_lost_its_claim_settles_nothing(around: Surroundings) -> None:
    await around.applied()
    entry, _ = await around.registry.register(suite(), checkpoint(1))
    (first, second), month = (replace(entry, claims=number) for number in (1, 2)), ""
    for claim in (first, second):
        month, _ = await accounts(around).begin(claim, {}, Spending(100))
    await accounts(around).end(first, month, Spending(40))
    present = await accounts(around).present()
    assert (present.totals.used.calls, present.totals.reserved.calls) == (200, 100)
    await accounts(around).end(second, month, Spending(30))
    assert (await accounts(around).present()).totals.used == Spending(130)


def test_an_estimate_is_that_of_checkpoints_that_were_judged() -> None:
    entry = CheckpointEntry.new("nightly", "a" * 16, checkpoint(1), "2026-01-01")
    begun = replace(entry, state=EntryState.WAITING, run="r2")
    failed = replace(begun, state=EntryState.FAILED)
    paid = replace(entry, state=EntryState.PASSED, run="r", calls=100, asked=100)
    assert expected_spending([paid, begun, failed]) == Spending(100)
    assert expected_spending([begun]) == Spending()
