"""What an evaluation notes in its claim, and when its time is over."""

import asyncio
import json

from tests.fakes.suite_loops import Surroundings
from tests.fakes.suites import checkpoint, suite

from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.errors import StoreUnavailable
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice
from caliper.core.suites import Suite
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult


def serving(around: Surroundings, **values: object) -> Suite:
    one = suite()
    return Suite(one.name, one.version, one.baseline, {**one.values, **values})


async def test_each_claim_has_one_notice_that_its_server_is_ready(around: Surroundings) -> None:
    served = serving(around, serve={})
    await around.registry.apply(served)
    await around.registry.register(served, checkpoint(1))
    (stored,), _ = await around.registry.entries("nightly")
    for _ in range(2):
        await around.registry.change_entry(stored.key, EntryCause.CLAIM)
        for _ in range(2):
            await around.registry.change_entry(stored.key, EntryCause.SERVING)
        around.clock.seconds += 1
    await around.registry.change_entry(stored.key, EntryCause.INTERRUPTION)
    await around.once()
    (entry,) = await around.entries()
    kinds = [mark.kind for mark in entry.notices]
    assert kinds.count(NoticeKind.SERVING) == 3
    assert kinds.count(NoticeKind.STARTED) == 1
    assert len({Notice.of(entry, mark).id for mark in entry.notices}) == len(kinds)
    assert (entry.claims, entry.run) == (3, "step-1-run")
    assert entry.registered <= entry.claimed <= entry.started <= entry.since


async def test_a_tag_that_is_added_meanwhile_costs_no_result(around: Surroundings) -> None:
    one = await around.applied()
    around.arriving = [checkpoint(1)]
    around.evaluator.hold = asyncio.Event()
    loop = asyncio.create_task(around.once())
    await around.evaluator.began.wait()
    await around.registry.register(one, checkpoint(1, tags=("release",)))
    around.evaluator.hold.set()
    await loop
    (entry,) = await around.entries()
    assert (entry.state, entry.checkpoint.tags) == (EntryState.EVALUATED, ("release",))
    assert len(around.evaluator.evaluated) == 1


async def test_progress_is_noted_in_the_lease(around: Surroundings) -> None:
    class Telling(type(around.evaluator)):  # type: ignore[misc]
        async def evaluate(
            self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
        ) -> EntryResult:
            claim.note_progress(12, 50)
            result: EntryResult = await super().evaluate(suite, claim, baseline)
            return result

    around.evaluator = Telling()
    around.evaluator.hold = asyncio.Event()
    await around.applied()
    around.arriving = [checkpoint(1)]
    loop = asyncio.create_task(around.once())
    while not any(b'"done":12' in lease for lease in around.leases()):  # noqa: ASYNC110
        await asyncio.sleep(0)
    fields = json.loads(around.leases()[0])
    assert (fields["whole"], fields["seen"][:10]) == (50, "2026-01-01")
    around.evaluator.hold.set()
    await loop
    assert around.leases() == []


async def test_a_lease_that_outlived_its_entry_is_removed_at_the_next_start(
    around: Surroundings,
) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    await around.once()
    (stored,), _ = await around.registry.entries("nightly")
    await around.store.put(stored.lease_key, b'{"holder":"","number":1,"schema":1}')
    await around.once()
    assert around.leases() == []


async def test_an_evaluation_that_hangs_fails_after_its_time(around: Surroundings) -> None:
    await around.registry.apply(serving(around, timeout=300))
    around.arriving = [checkpoint(1)]
    around.evaluator.hold = asyncio.Event()
    await around.once()
    (entry,) = await around.entries()
    assert (entry.state, entry.reason) == (EntryState.FAILED, "not evaluated within 300 seconds")


async def test_a_loop_without_an_end_waits_for_its_store(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    around.evaluator.errors = {"step-1": [StoreUnavailable("disk") for _ in range(20)]}
    await around.until_evaluated(1)
    assert [event for _, event in around.events].count("store away") == 1
    (entry,) = await around.entries()
    assert (entry.state, entry.crashes) == (EntryState.EVALUATED, 0)
