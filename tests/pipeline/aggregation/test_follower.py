import asyncio
from collections.abc import Mapping

import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.evaluations import House, cancel, event_of, scored, standalone, stored_run
from tests.fakes.stores import Gate, MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Record
from caliper.core.errors import StoreFull, StoreUnavailable, StreamUnavailable
from caliper.core.messages import EventKind
from caliper.core.run import RunState
from caliper.pipeline.aggregation.follower import Follower, FollowerTiming
from caliper.pipeline.aggregation.outlets import Trouble
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.store.runs import CANCELLED, write_json


async def publish(stream: MemoryStream, records: list[Record]) -> None:
    for record in records:
        await stream.publish(record.message)


async def close(stream: MemoryStream) -> None:
    for topic in (VERDICTS, RUNS):
        await stream.close_topic(topic)


async def test_a_run_is_followed_to_its_end() -> None:
    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS})
    run = await stored_run(house.store)
    await publish(stream, [event_of(run, EventKind.PLAN, 0), *scored(run)])
    follower = Follower(await house.aggregator(), stream, house.clock)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        await follower.current.wait()
        await close(stream)
        await following
    assert [event.state for event in house.announced] == ["complete"]
    assert house.file(run) == (await standalone(run, scored(run)))[0]


async def test_a_cancellation_that_only_the_store_knows_is_carried_out() -> None:
    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS})
    run = await stored_run(house.store)
    await publish(stream, [event_of(run, EventKind.PLAN, 0), *scored(run)[:1]])
    await write_json(run.store, CANCELLED, cancelled=True)
    follower = Follower(await house.aggregator(), stream, house.clock)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        while not house.announced:  # noqa: ASYNC110 - the house tells nobody
            await asyncio.sleep(0)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    assert [event.state for event in house.announced] == ["cancelled"]


async def test_a_follower_without_snapshots_writes_the_evidence_at_every_look() -> None:
    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS}, once=True)
    run = await stored_run(house.store)
    await publish(stream, [event_of(run, EventKind.PLAN, 0), *scored(run)[:1]])
    written = f"runs/{run.spec.run_id}/verdicts/00000000.jsonl.gz"
    follower = Follower(
        await house.aggregator(), stream, house.clock, FollowerTiming(snapshots=False)
    )
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        while written not in house.store.objects:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    assert not [key for key in house.store.objects if key.startswith("aggregator/")]


async def test_a_follower_without_patience_ends_with_what_went_wrong() -> None:
    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS})
    run = await stored_run(house.store)
    aggregator = await house.aggregator()
    await publish(stream, scored(run))
    house.store.full = True
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(StoreFull):
            await Follower(aggregator, stream, house.clock, FollowerTiming(patience=None)).run()


async def test_the_next_one_takes_over_where_the_last_one_was() -> None:
    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS})
    run = await stored_run(house.store)
    first, *others = scored(run)
    await publish(stream, [first])
    follower = Follower(await house.aggregator(), stream, house.clock)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        await follower.current.wait()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await publish(stream, others)
        await close(stream)
        after = await house.aggregator()
        assert after.places.offsets == {VERDICTS: {0: 1}}
        await Follower(after, stream, house.clock).run()
    assert house.file(run) == (await standalone(run, scored(run)))[0]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("filled", [0, 2])
async def test_a_topic_that_was_lost_is_read_from_its_first_record(told: bool, filled: int) -> None:
    """A snapshot of two places in a log that is gone; the new one holds `filled` records by the
    time that somebody takes over, and more later. `told`: streams say which log a topic is.
    """

    class Silent(MemoryStream):
        async def identity(self, topic: str) -> str:
            return await super().identity(topic) if told else ""

    house, before, stream = House(), *(Silent(logs={VERDICTS, RUNS}) for _ in range(2))
    other = await stored_run(house.store, "another")
    run = await stored_run(house.store)
    first, second, last = scored(run)
    await publish(before, [first, second] if told else [*scored(other), first, second])
    follower = Follower(await house.aggregator(), before, house.clock)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(follower.run())
        await follower.current.wait()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        after = await house.aggregator()
        # What had been entered is not published again: only what nobody has.
        await publish(stream, [last, *scored(other)][:filled])
        next_one = Follower(after, stream, house.clock)
        following = asyncio.create_task(next_one.run())
        await next_one.current.wait()
        await publish(stream, [last, *scored(other)][filled:])
        await close(stream)
        await following
    assert house.file(run) == (await standalone(run, scored(run)))[0]
    assert after.places.offsets[VERDICTS] == {0: 1 + len(scored(other))}
    assert house.warned == ([Trouble.LOST] if told or filled else [])


async def test_who_asks_before_it_has_taken_over_costs_it_no_event() -> None:
    house = House()
    run = await stored_run(house.store)
    before = await house.aggregator()
    await before.apply([event_of(run, EventKind.PLAN, 0)])
    await cancel(house, run, before)
    await before.snapshot()
    house.store.before = gate = Gate("get", first=True)
    after = house.starting()
    async with asyncio.timeout(PATIENCE):
        asking = asyncio.create_task(after.scores(run.spec.run_id))
        await gate.reached.wait()
        resuming = asyncio.create_task(after.resume())
        # As far as it comes while the first is waiting.
        for _ in range(100):
            await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.gather(asking, resuming)
    found = await after.scores(run.spec.run_id)
    assert found is not None
    assert found.state is RunState.CANCELLING


async def test_a_store_that_is_down_for_a_while_costs_nothing() -> None:
    class Shaky(MemoryStore):
        async def before(self, call: str, _: str) -> None:
            if call == "get" and self.count("get") <= 5:
                raise StoreUnavailable("down")

    house, stream = House(), MemoryStream(logs={VERDICTS, RUNS})
    run = await stored_run(house.store)
    house.store = Shaky(house.store)
    await publish(stream, scored(run))
    await close(stream)
    async with asyncio.timeout(PATIENCE):
        await Follower(await house.aggregator(), stream, house.clock).run()
    assert house.file(run) == (await standalone(run, scored(run)))[0]
    assert house.clock.slept.count(1.0) >= 5


async def test_a_stream_that_is_away_is_told_until_it_answers() -> None:
    class Away(MemoryStream):
        """Topics that are asked for once more while they are down; what is heard in between."""

        def __init__(self) -> None:
            super().__init__(logs={VERDICTS, RUNS})
            self.down, self.heard = {VERDICTS: 3, RUNS: 1}, list[str]()

        async def ends(self, topic: str) -> Mapping[int, int]:
            try:
                await follower.check()
                self.heard.append("ready")
            except StreamUnavailable as error:
                self.heard.append(str(error))
            if self.down[topic]:
                self.down[topic] -= 1
                raise StreamUnavailable(f"{topic} is down")
            return await super().ends(topic)

    house, stream = House(), Away()
    await close(stream)
    follower = Follower(await house.aggregator(), stream, house.clock)
    async with asyncio.timeout(PATIENCE):
        await follower.run()
    # Each is asked once before anything is known; that one answers excuses no other.
    assert stream.heard[0] == "ready"
    assert "ready" not in stream.heard[2:]
    assert stream.heard[-1] == f"{VERDICTS} is down"
    await follower.check()
