"""Several aggregators on one store and one log: the figures and the end are those of one."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fakes.clock import PATIENCE, FakeClock
from tests.fakes.evaluations import CAPTIONS, House, scored, standalone, stored_run
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Record
from caliper.core.errors import LeaseLost
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.follower import Follower
from caliper.pipeline.aggregation.lease import Lease, LeasedStore
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.planning.publisher import RUNS, VERDICTS

KEY = "lease.json"


class PausableStore(MemoryStore):
    """A process's connection to a shared store: while it is paused, its writes wait to be sent."""

    def __init__(self, shared: MemoryStore) -> None:
        super().__init__(shared)
        self.running, self.waiting = asyncio.Event(), asyncio.Event()
        self.running.set()

    async def before(self, call: str, _: str) -> None:
        if call == "replace" and not self.running.is_set():
            self.waiting.set()
            await self.running.wait()


@dataclass
class Process:
    """One aggregator with its lease; it does one thing at a time, and stands by once it lost."""

    house: House
    log: list[Record]
    partition: int = 0
    leads: bool = False
    task: asyncio.Task[None] | None = None
    connection: PausableStore = field(init=False)
    lease: Lease = field(init=False)
    aggregator: Aggregator = field(init=False)

    def __post_init__(self) -> None:
        self.connection = PausableStore(self.house.store)
        self.lease = Lease(self.connection, self.house.clock, KEY)
        self.aggregator = replace(
            self.house, store=LeasedStore(self.connection, self.lease)
        ).starting()

    async def do(self, action: str) -> None:
        """Begin an action, as far as it comes unless the process is paused."""
        if action == "pause":
            self.connection.running.clear()
        elif action == "wake":
            self.connection.running.set()
            await self.end()
        elif self.task is None and (self.leads or action == "lead"):
            self.connection.waiting.clear()
            self.task = asyncio.create_task(self._try(action))
            waiting = asyncio.create_task(self.connection.waiting.wait())
            await asyncio.wait((self.task, waiting), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if self.task.done():
                await self.end()

    async def end(self) -> None:
        if self.task is not None:
            await self.task
            self.task = None

    async def _try(self, action: str) -> None:
        actions: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "lead": self._lead,
            "renew": self.lease.renew,
            "read": self._read,
            "flush": self.aggregator.flush,
            "snapshot": self.aggregator.snapshot,
            "conclude": self.aggregator.conclude,
        }
        try:
            await actions[action]()
        except LeaseLost:
            self.leads = False
            await self.aggregator.stand_by()

    async def _lead(self) -> None:
        await self.aggregator.stand_by()
        await self.lease.acquire()
        await self.aggregator.resume()
        self.leads = True

    async def _read(self) -> None:
        """Read one record. Each process prefers another partition, so their segments differ."""
        offsets = self.aggregator.places.offsets.get(VERDICTS, {})
        waiting = [each for each in self.log if each.offset >= offsets.get(each.partition, 0)]
        waiting.sort(key=lambda each: (each.partition != self.partition, each.offset))
        await self.aggregator.apply(waiting[:1])

    async def finish(self) -> None:
        await self.do("wake")
        await self.do("lead")
        assert self.leads
        await self.aggregator.apply(self.log)
        await self.aggregator.conclude()
        await self.aggregator.snapshot()


ACTIONS = ("lead", "renew", "read", "flush", "snapshot", "conclude", "pause", "wake")
BOTH = [(0, "lead"), (0, "read"), (1, "lead"), (1, "read")]
SECOND_FOR_A_WHILE = [*BOTH, (1, "snapshot"), (0, "read"), (0, "flush")]
WOKEN_IN_A_WRITE = [*BOTH[:2], (0, "pause"), (0, "flush"), *BOTH[2:], (1, "snapshot"), (0, "wake")]
ENDED_BY_BOTH = [
    *BOTH,
    (1, "snapshot"),
    *[(0, "read")] * 40,
    (0, "conclude"),
]


@example(SECOND_FOR_A_WHILE, 1)
@example(WOKEN_IN_A_WRITE, 1)
@example(ENDED_BY_BOTH, 1)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from(ACTIONS)), max_size=40),
    st.integers(0, 1),
)
@settings(deadline=None, max_examples=100)
async def test_two_aggregators_end_a_run_as_one_does(
    history: list[tuple[int, str]], last: int
) -> None:
    house = House()
    run = await stored_run(house.store)
    # Later ones are better or no news: a run ends early and again.
    log = [*scored(run), *scored(run, 1), *scored(run)]
    log = [
        replace(record, partition=number % 2, offset=number // 2)
        for number, record in enumerate(log)
    ]
    expected = await standalone(run, log)
    processes = [Process(house, log, partition) for partition in range(2)]
    async with asyncio.timeout(PATIENCE):
        for which, action in history:
            await processes[which].do(action)
        await processes[last].finish()
        # The other one wakes up at last, with a write that it had begun.
        await processes[1 - last].do("wake")
        await processes[last].finish()
    await assert_complete(house, run, expected)
    # The next one finds the same.
    announced = list(house.announced)
    await Process(house, log).finish()
    assert house.announced == announced
    await assert_complete(house, run, expected)


async def assert_complete(house: House, run: Planned, expected: tuple[bytes, bytes]) -> None:
    assert house.warned == []
    assert (house.file(run), house.file(run, "verdicts.parquet")) == expected
    end = json.loads(house.store.objects[f"runs/{run.spec.run_id}/end.json"])
    assert end["state"] == "complete"

    async def captions(_: object) -> dict[str, dict[str, str]]:
        return CAPTIONS

    # All segments are read back.
    stored = await StoredRun(run.spec, house.store, captions).open()
    items = [item async for shard in stored.plan() for item in shard]
    assert len(await stored.ledger.evidence(items)) == run.summary.questions


async def test_a_follower_that_loses_its_lease_as_it_is_told_to_stop_stops() -> None:
    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS})
    ours = Process(house, [])
    follower = Follower(ours.aggregator, stream, house.clock, lease=ours.lease)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        await follower.current.wait()
        house.store.objects[KEY] = b"{}"
        await Lease(house.store, FakeClock(), KEY).acquire()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following


class LosingLease(Lease):
    """A lease that is lost while it `loses`."""

    loses = False

    async def renew(self) -> None:
        if self.loses:
            raise LeaseLost("another holds it")
        await super().renew()


async def test_a_follower_that_loses_its_lease_while_the_store_is_away_stands_by() -> None:
    store = MemoryStore()
    house, stream = House(store=store), MemoryStream(logs={VERDICTS, RUNS})
    aggregator, lease = house.starting(), LosingLease(store, house.clock, KEY)
    follower = Follower(aggregator, stream, house.clock, lease=lease)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        await follower.current.wait()
        store.away, lease.loses = {"put": "", "replace": ""}, True
        while aggregator.leads and not following.done():  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
        assert not following.done()
        store.away, lease.loses = {}, False
        await follower.current.wait()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following


async def test_a_follower_leads_again_after_it_lost_its_lease() -> None:
    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS})
    run = await stored_run(house.store)
    ours, other = Process(house, []), Lease(house.store, FakeClock(), KEY)
    follower = Follower(ours.aggregator, stream, house.clock, lease=ours.lease)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        await follower.current.wait()
        await stream.publish(scored(run)[0].message)
        house.store.objects[KEY] = b"{}"
        await other.acquire()
        while ours.aggregator.leads:  # noqa: ASYNC110 - the aggregator tells nobody
            await asyncio.sleep(0)
        found = await ours.aggregator.scores(run.spec.run_id)
        assert found is not None
        await other.release()
        for record in scored(run)[1:]:
            await stream.publish(record.message)
        for topic in (VERDICTS, RUNS):
            await stream.close_topic(topic)
        await following
    assert [event.state for event in house.announced] == ["complete"]
    assert house.file(run) == (await standalone(run, scored(run)))[0]
    released = json.loads(house.store.objects[KEY])
    assert (released["holder"], released["number"]) == ("", other.number + 1)
