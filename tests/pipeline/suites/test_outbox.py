"""The outbox: each transition is told once to each target, whatever happens in between."""

import asyncio
from collections import Counter

import pytest
from tests.fakes.checkpoint_server import Killed
from tests.fakes.clock import FakeClock
from tests.fakes.outboxes import ALL, Desk, FakeTarget
from tests.fakes.receivers import HANG, SECRET, Receiver
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import checkpoint, suite

from caliper.adapters.notices.bodies import event_body
from caliper.adapters.notices.webhook import Webhook
from caliper.core.entry_states import EntryCause
from caliper.core.errors import BackendUnavailable, InvalidInput, UnknownName
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import MOST_ATTEMPTS, Notice, NoticeDelivery
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.outbox import LIMIT


class MortalStore(MemoryStore):
    """A store whose process is killed at a write, before or after it; whoever comes later lives."""

    def __init__(self, writes: int, *, after: bool) -> None:
        super().__init__()
        self.left, self.after_it, self.is_dead = writes, after, False

    def revive(self) -> None:
        self.left, self.is_dead = 1_000_000, False

    async def before(self, call: str, _: str) -> None:
        if self.is_dead:
            raise Killed
        if call == "replace":
            self.left -= 1
            if not self.after_it:
                self._die_at_last()

    async def after(self, call: str, _: str) -> None:
        if call == "replace":
            self._die_at_last()

    def _die_at_last(self) -> None:
        if self.left == 0:
            self.is_dead = True
            raise Killed


TOLD = [
    *("step-1 registered", "step-1 started", "step-1 decided"),
    *("step-2 registered", "step-2 started", "step-2 passed"),
]


async def test_every_transition_is_told_once() -> None:
    target = FakeTarget()
    desk = Desk(team=target)
    await desk.evaluate(1, 2)
    await desk.evaluate(1, 2)
    assert sorted(target.told) == sorted(TOLD)
    assert len({each.id for each in target.taken}) == len(TOLD)
    passed = next(each for each in target.taken if each.kind is NoticeKind.PASSED)
    assert (passed.headline, passed.run) == (
        "nightly: step-2 (step 2) passed: capability 50.0",
        "step-2-run",
    )


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_wherever_the_process_is_killed_everything_is_told_with_one_id(
    *, after: bool
) -> None:
    deaths = 0
    for writes in range(1, 60):
        target = FakeTarget()
        store = MortalStore(writes, after=after)
        desk = Desk(store, team=target)
        try:
            await desk.evaluate(1, 2)
        except Killed:
            deaths += 1
            store.revive()
            # What was in flight is tried again when its time is over, and the lease is, too.
            for _ in range(3):
                desk.clock.seconds += 2 * LIMIT
                await desk.evaluate(1, 2)
        counts = Counter(each.id for each in target.taken)
        assert set(target.told) == set(TOLD), writes
        assert len(counts) == len(TOLD), writes
        # Only what was in flight when the process was killed may come twice.
        assert len(target.taken) <= len(TOLD) + 1, writes
    assert deaths > 20


async def test_a_target_that_fails_is_tried_again_later_and_hinders_no_other() -> None:
    broken = FakeTarget(errors=[BackendUnavailable("refused"), BackendUnavailable("again")])
    whole = FakeTarget()
    desk = Desk(broken=broken, whole=whole)
    for step in (1, 2):
        await desk.registry.register(suite(), checkpoint(step))
    outbox = desk.outbox()
    await desk.sweep(outbox)
    assert (broken.tried, len(whole.taken)) == (1, 2)
    first, second = await desk.records()
    assert first.deliveries["broken"].error == "refused"
    assert first.undelivered(desk.targets) == second.undelivered(desk.targets) == ["broken"]
    # It is not due again; the next one is, and fails too.
    await desk.sweep(outbox)
    await desk.sweep(outbox)
    assert broken.tried == 2
    desk.clock.seconds += 60
    await desk.sweep(outbox)
    assert sorted(broken.told) == ["step-1 registered", "step-2 registered"]
    assert len(whole.taken) == 2
    assert not any(record.undelivered(desk.targets) for record in await desk.records())


async def test_attempts_are_bounded_and_a_replay_begins_anew() -> None:
    target = FakeTarget(errors=[BackendUnavailable("refused") for _ in range(MOST_ATTEMPTS)])
    desk = Desk(team=target)
    await desk.registry.register(suite(), checkpoint(1))
    waits = []
    for _ in range(MOST_ATTEMPTS + 5):
        await desk.sweep()
        (record,) = await desk.records()
        waits.append(record.deliveries["team"].due - desk.clock.now().timestamp())
        desk.clock.seconds += 4_000
    assert target.tried == MOST_ATTEMPTS
    assert waits[:3] == [10.0, 20.0, 40.0]
    assert max(waits) == 3600.0
    found = await desk.notices.find("nightly", record.notice.id[:6])
    after = await desk.outbox().replay(suite(), found)
    assert after["team"].delivered
    again = await desk.outbox().replay(suite(), found)
    assert again["team"].delivered
    assert [each.id for each in target.taken] == [record.notice.id] * 2
    with pytest.raises(UnknownName, match="unknown event 'x'"):
        await desk.notices.find("nightly", "x")
    await desk.registry.register(suite(), checkpoint(2))
    await desk.sweep()
    with pytest.raises((UnknownName, InvalidInput)):
        await desk.notices.find("nightly", "")


async def test_a_notice_that_another_process_opens_again_is_told_again_once() -> None:
    chat, ci = FakeTarget(), FakeTarget()
    desk = Desk(chat=chat, ci=ci)
    outbox, administration = desk.outbox(), Administration(desk.registry)
    await desk.registry.apply(suite())
    for step in (1, 2):
        await desk.registry.register(suite(), checkpoint(step))
    for _ in range(2):
        await desk.sweep(outbox)
    first, _ = await desk.records()
    for times in (2, 3):
        again = await administration.replay("nightly", first.notice.id[:8])
        assert again.notice == first.notice
        assert again.deliveries == dict.fromkeys(("chat", "ci"), NoticeDelivery())
        for _ in range(2):
            await desk.sweep(outbox)
        for target in (chat, ci):
            assert [each.id for each in target.taken].count(first.notice.id) == times
            assert len(target.taken) == times + 1
    for name, text in (("nightly", "x"), ("other", first.notice.id)):
        with pytest.raises(UnknownName):
            await administration.replay(name, text)


async def test_two_outboxes_deliver_once() -> None:
    target = FakeTarget()
    desk = Desk(team=target)
    for step in range(5):
        await desk.registry.register(suite(), checkpoint(step))
    outboxes = [desk.outbox() for _ in range(4)]
    await asyncio.gather(*map(desk.sweep, outboxes))
    assert len(target.taken) == 5


async def test_targets_get_their_kinds_and_a_new_one_no_past() -> None:
    bad = FakeTarget(frozenset({NoticeKind.REGRESSED, NoticeKind.FAILED}))
    desk = Desk(bad=bad)
    desk.evaluator.errors = {"step-2": [InvalidInput("what it read")]}
    await desk.evaluate(1, 2)
    assert bad.told == ["step-2 failed"]
    assert "what it read" not in str(await desk.records())
    late = FakeTarget()
    desk.targets = {"late": late}
    await desk.evaluate(3)
    assert {each.checkpoint for each in late.taken} == {"step-3"}


async def test_a_round_is_told_even_if_the_next_one_began_before() -> None:
    target = FakeTarget()
    desk = Desk(team=target)
    entry, _ = await desk.registry.register(suite(), checkpoint(1))
    stored, _ = await desk.registry.entries("nightly")
    for cause in (EntryCause.CLAIM, EntryCause.FAILURE, EntryCause.RETRY, EntryCause.CLAIM):
        await desk.registry.change_entry(stored[0].key, cause)
    # A crash, and another loop: nothing new.
    await desk.registry.change_entry(stored[0].key, EntryCause.CLAIM)
    await desk.sweep()
    assert Counter(target.told) == {
        "step-1 registered": 2,
        "step-1 started": 2,
        "step-1 failed": 1,
    }
    assert len({each.id for each in target.taken}) == 5
    assert entry.round == 0
    stored, _ = await desk.registry.entries("nightly")
    assert len(stored[0].entry.notices) == 5


async def test_a_damaged_record_hinders_no_other() -> None:
    target = FakeTarget()
    desk = Desk(team=target)
    await desk.registry.register(suite(), checkpoint(1))
    await desk.sweep()
    (key,) = (key for key in desk.store.objects if "/notices/" in key)
    desk.store.objects[key] = b"{"
    await desk.registry.register(suite(), checkpoint(2))
    await desk.sweep()
    assert target.told == ["step-1 registered", "step-2 registered"]


async def test_a_real_receiver_that_fails_and_hangs_gets_everything() -> None:
    async with Receiver([500, HANG, 302]) as receiver:
        clock = FakeClock()
        hook = Webhook(ALL, lambda: receiver.url, lambda: SECRET, event_body, clock, seconds=2.0)
        desk = Desk(hook=hook)
        desk.clock = clock
        await desk.evaluate(1, 2)
        for _ in range(8):
            clock.seconds += 100
            await desk.sweep()
    got = [each.notice for each in receiver.posted[3:]]
    assert set(got) == set(TOLD)
    # A receiver knows what it was sent before by its id.
    assert len({each.headers["webhook-id"] for each in receiver.posted}) == len(TOLD)


async def test_a_target_that_hangs_does_not_hold_the_loop() -> None:
    """The evaluations go on while a target has not answered."""

    class Slow(FakeTarget):
        async def deliver(self, notice: Notice) -> None:
            await desk.evaluator.done.wait()
            await super().deliver(notice)

    target = Slow()
    desk = Desk(slow=target)
    desk.evaluator.wanted = 2
    await desk.evaluate(1, 2)
    assert sorted(target.told) == sorted(TOLD)
