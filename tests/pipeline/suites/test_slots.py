"""Slots: one checkpoint at a time, in turn, and nothing is left of one whatever ends its holder."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from tests.fakes.checkpoint_server import FakeServer, Kill, Killed, KilledStore, World
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import checkpoint

from caliper.core.errors import BackendRejected, BackendUnavailable, LeaseLost
from caliper.pipeline.suites.slots import ServingSlot, slot_states
from caliper.ports.serving import CheckpointEndpoint


class Surroundings:
    """A store with a slot, and the world in which checkpoints are served."""

    def __init__(self) -> None:
        self.store, self.clock, self.world = MemoryStore(), FakeClock(), World()
        self.used: list[str] = []
        self.warnings: list[str] = []

    async def note_use(self, endpoint: CheckpointEndpoint) -> str:
        assert len(self.world.served) == 1
        await self.clock.sleep(0.0)
        self.used.append(endpoint.model)
        return endpoint.model

    def use(
        self,
        step: int,
        server: FakeServer | None = None,
        work: Any = None,
        seconds: float = 60.0,
        slot: tuple[str, str] = ("gpu", ""),
    ) -> Coroutine[Any, Any, str]:
        """Use the slot in a process of its own; also that of the server with this name."""
        server = server or FakeServer(self.world)
        store: Any = KilledStore(self.store, server.kill)
        name, at = slot
        turn = ServingSlot(store, self.clock, name, server.clear, self.warnings.append, at)
        label = f"nightly step-{step}"
        return turn.use(server, checkpoint(step), label, seconds, work or self.note_use)

    async def until(self, key: str, text: bytes) -> None:
        """Wait until an object holds a text."""
        while text not in self.store.objects.get(key, b""):  # noqa: ASYNC110 - a store tells nobody
            await asyncio.sleep(0)

    async def state(self) -> tuple[str, tuple[str, ...]]:
        (state,) = await slot_states(self.store)
        return state.served, state.queue

    async def assert_empty(self) -> None:
        assert self.world.served == set()
        assert await self.state() == ("", ())
        assert b'"trace":{}' in self.store.objects["slots/gpu/record.json"]


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


async def _calls() -> int:
    around = Surroundings()
    server = FakeServer(around.world)
    await around.use(1, server)
    await around.assert_empty()
    return server.kill.calls


@pytest.mark.parametrize("after", [False, True])
async def test_whatever_call_a_process_is_killed_at_the_next_holder_removes_all(
    after: bool,
) -> None:
    calls = await _calls()
    assert calls > 20
    for at in range(calls):
        around = Surroundings()
        with pytest.raises(Killed):
            await around.use(1, FakeServer(around.world, Kill(at, after)))
        assert await around.use(2) == "rev2"
        await around.assert_empty()
        assert around.world.most == 1


async def killed_in_use(around: Surroundings) -> None:
    """A process that is killed while it uses a slot leaves its server as it is."""
    server = FakeServer(around.world)

    async def work(_: CheckpointEndpoint) -> str:
        server.kill.at = 0
        raise Killed

    with pytest.raises(Killed):
        await around.use(1, server, work)
    assert around.world.served == {"step-1"}


async def test_a_process_that_is_killed_while_it_uses_the_slot_leaves_nothing(
    around: Surroundings,
) -> None:
    await killed_in_use(around)
    assert (await around.state())[0] == "nightly step-1"
    await around.use(2)
    await around.assert_empty()


async def test_several_take_turns_in_the_order_in_which_they_came(around: Surroundings) -> None:
    first, done = asyncio.Event(), asyncio.Event()

    async def work(endpoint: CheckpointEndpoint) -> str:
        first.set()
        await done.wait()
        return await around.note_use(endpoint)

    users = [asyncio.create_task(around.use(0, work=work))]
    await first.wait()
    for step in range(1, 5):
        users.append(asyncio.create_task(around.use(step)))
        await around.until(f"slots/gpu/queue/0000000{step}.json", b"nightly")
    waiting = tuple(f"nightly step-{step}" for step in range(1, 5))
    assert await around.state() == ("nightly step-0", waiting)
    done.set()
    await asyncio.gather(*users)
    assert around.used == [f"rev{step}" for step in range(5)]
    await around.assert_empty()


async def test_one_server_by_two_slots_serves_one_at_a_time(around: Surroundings) -> None:
    names = [("a", "server.s"), ("b", "server.s"), ("a", "server.s"), ("c", "server.s")]
    users = (around.use(step, slot=slot) for step, slot in enumerate(names))
    await asyncio.gather(*users)
    assert sorted(around.used) == ["rev0", "rev1", "rev2", "rev3"]
    assert (around.world.most, around.world.served) == (1, set())
    states = {each.name: (each.served, each.queue) for each in await slot_states(around.store)}
    assert states == dict.fromkeys(("a", "b", "c", "server.s"), ("", ()))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("slot", [("b", "server.s"), ("a", "server.t"), ("a", "")])
async def test_what_a_killed_process_left_at_a_server_the_next_of_slot_or_server_removes(
    slot: tuple[str, str], *, after: bool
) -> None:
    at, is_killed = 0, True
    while is_killed:
        around = Surroundings()
        work = around.use(1, FakeServer(around.world, Kill(at, after)), slot=("a", "server.s"))
        (first,) = await asyncio.gather(work, return_exceptions=True)
        is_killed = isinstance(first, Killed)
        assert await around.use(2, slot=slot) == "rev2"
        assert (around.world.most, around.world.served) == (1, set())
        at += 1
    assert at > 20


async def test_what_an_earlier_release_left_in_the_slot_of_its_suite_is_removed(
    around: Surroundings,
) -> None:
    await killed_in_use(around)
    assert await around.use(2, slot=("gpu", "server.s")) == "rev2"
    assert (around.world.most, around.world.served) == (1, set())
    assert b'"trace":{}' in around.store.objects["slots/gpu/record.json"]


async def test_one_that_died_in_the_queue_holds_up_nobody(around: Surroundings) -> None:
    # Its ticket is drawn and held, and nobody renews it.
    with pytest.raises(Killed):
        await around.use(1, FakeServer(around.world, Kill(4)))
    assert (await around.state())[1] == ("nightly step-1",)
    await around.use(2)
    await around.assert_empty()


@pytest.mark.parametrize("made", [False, True])
async def test_what_a_holder_made_after_it_lost_the_slot_is_removed(
    around: Surroundings, made: bool
) -> None:
    server, began = FakeServer(around.world), asyncio.Event()
    server.pause = None if made else asyncio.Event()

    async def work(_: CheckpointEndpoint) -> str:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    paused = asyncio.create_task(around.use(1, server, work))
    await around.until("slots/gpu/record.json", b"step-1")
    if made:
        await began.wait()
    # Another takes the slot, as after a pause that was longer than its term.
    around.store.objects["slots/gpu/lease.json"] = b'{"schema":1,"holder":"other x","number":9}'
    with pytest.raises(LeaseLost):
        await paused
    assert around.world.served == set()
    assert server.closed
    await around.use(2)
    await around.assert_empty()


async def test_a_server_that_ends_or_hangs_fails_the_checkpoint(around: Surroundings) -> None:
    server = FakeServer(around.world)

    async def work(_: CheckpointEndpoint) -> str:
        server.ending.set()
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(BackendRejected, match="the server ended; its output ends: out of memory"):
        await around.use(1, server, work)
    await around.assert_empty()


async def test_a_checkpoint_that_takes_too_long_fails(around: Surroundings) -> None:
    async def work(_: CheckpointEndpoint) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(BackendRejected, match=r"not evaluated within 0\.01 seconds; its output"):
        await around.use(1, work=work, seconds=0.01)
    await around.assert_empty()


async def test_what_cannot_be_removed_is_told_and_removed_by_the_next(
    around: Surroundings,
) -> None:
    async def work(endpoint: CheckpointEndpoint) -> str:
        around.world.stuck = True
        return endpoint.model

    assert await around.use(1, work=work) == "rev1"
    assert around.warnings == ["slot gpu: cannot be removed; its next user tries again"]
    with pytest.raises(BackendUnavailable, match="cannot be removed"):
        await around.use(2)
    around.world.stuck = False
    await around.use(2)
    await around.assert_empty()


async def test_an_interrupted_holder_leaves_nothing(around: Surroundings) -> None:
    began = asyncio.Event()

    async def work(_: CheckpointEndpoint) -> str:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    user = asyncio.create_task(around.use(1, work=work))
    await began.wait()
    user.cancel()
    with pytest.raises(asyncio.CancelledError):
        await user
    await around.assert_empty()
