"""Several aggregators on one store and one stream share the runs."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from itertools import count

import pytest
from tests.fakes.clock import PATIENCE, FakeClock, FastClock
from tests.fakes.evaluations import CAPTIONS, CODEC, event_of, scored, standalone, stored_run
from tests.fakes.runs import Planned, part
from tests.fakes.stores import MemoryStore
from tests.servers.process import free_ports

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.memory import MemoryStream
from caliper.core.errors import StreamUnavailable
from caliper.core.messages import EventKind
from caliper.core.run import RunState
from caliper.pipeline.aggregation.slots import SLOTS, slot_of
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.store.supplies import put_captions
from caliper.wiring.aggregators import aggregator_parts
from caliper.wiring.grounds import Ground

Step = Callable[[], Awaitable[None]]


def names(slot: int) -> Iterator[str]:
    """Models of a slot."""
    return (name for name in map("model {}".format, count()) if slot_of(name) == slot)


class Process:
    """One aggregator service."""

    def __init__(self, store: MemoryStore, stream: MemoryStream, clock: FastClock) -> None:
        self.store = MemoryStore(store)
        parts, self.scores = aggregator_parts(Ground(self.store, stream, stream, CODEC, clock))
        self.tasks = [asyncio.ensure_future(task()) for task in parts.tasks]

    async def scored(self, run: Planned) -> int:
        """How many questions are scored, as far as it tells."""
        found = await self.scores.scores(run.spec.run_id)
        assert found is not None
        return found.benchmarks[0].coverage.scored

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def kill(self) -> None:
        """End it without its having a chance to write anything."""
        self.store.away = {"replace": "", "version": ""}
        await self.stop()


class Installation:
    """A store, a stream and the aggregators on them."""

    def __init__(self) -> None:
        self.store, self.clock = MemoryStore(), FastClock()
        self.stream = MemoryStream(logs={VERDICTS, RUNS})
        self.processes: list[Process] = []

    def another(self) -> Process:
        process = Process(self.store, self.stream, self.clock)
        self.processes.append(process)
        return process

    def holders(self) -> list[str]:
        """Who holds the lease of each slot; empty for nobody."""
        keys = [f"aggregator/slot-{slot}/lease.json" for slot in range(SLOTS)]
        return [json.loads(self.store.objects.get(key, b"{}")).get("holder", "") for key in keys]

    async def shared_by(self, number: int) -> None:
        """Wait until so many aggregators hold all slots."""
        async with asyncio.timeout(PATIENCE):
            while "" in self.holders() or len(set(self.holders())) != number:
                await self.clock.sleep(0.25)

    async def planned(self, name: str) -> Planned:
        captions = await put_captions(self.store, CAPTIONS["captionqa"])
        run = await stored_run(self.store, name, part(captions=captions))
        await self.stream.publish(event_of(run, EventKind.PLAN, 1).message)
        return run

    async def scored(self, *runs: Planned, places: slice = slice(None)) -> None:
        for run in runs:
            for record in scored(run)[places]:
                await self.stream.publish(record.message)

    async def ended(self, *runs: Planned) -> None:
        """Wait until the runs have ended, and compare their reports with those of one process."""
        async with asyncio.timeout(PATIENCE):
            for run in runs:
                key = f"runs/{run.spec.run_id}/end.json"
                while key not in self.store.objects:
                    await self.clock.sleep(0.25)
                assert json.loads(self.store.objects[key])["state"] == "complete"
                folder = f"runs/{run.spec.run_id}/report/"
                report = self.store.objects[folder + "report.json"]
                verdicts = self.store.objects[folder + "verdicts.parquet"]
                assert (report, verdicts) == await standalone(run, scored(run))


@pytest.fixture
async def there() -> Installation:
    return Installation()


async def one_of_each_slot(there: Installation) -> list[Planned]:
    return [await there.planned(next(names(slot))) for slot in range(SLOTS)]


async def test_one_aggregator_leads_all_slots(there: Installation) -> None:
    process = there.another()
    await there.shared_by(1)
    runs = await one_of_each_slot(there)
    await there.scored(*runs)
    await there.ended(*runs)
    await process.stop()
    assert there.holders() == [""] * SLOTS


@pytest.mark.parametrize("number", [2, 3, 4])
async def test_aggregators_share_the_slots(there: Installation, number: int) -> None:
    there.another()
    await there.shared_by(1)
    runs = await one_of_each_slot(there)
    await there.scored(*runs, places=slice(1))
    for _ in range(number - 1):
        there.another()
    await there.shared_by(number)
    await there.scored(*runs, places=slice(1, None))
    await there.ended(*runs)
    for process in there.processes:
        await process.stop()


@pytest.mark.parametrize("fate", ["stop", "kill"])
async def test_slots_of_one_that_ends_are_taken_over(there: Installation, fate: str) -> None:
    for _ in range(2):
        there.another()
    await there.shared_by(2)
    runs = await one_of_each_slot(there)
    await there.scored(*runs, places=slice(1))
    first = there.processes[0]
    await (first.stop() if fate == "stop" else first.kill())
    await there.shared_by(1)
    await there.scored(*runs, places=slice(1, None))
    await there.ended(*runs)
    await there.processes[1].stop()


async def test_more_aggregators_than_slots_stand_by(there: Installation) -> None:
    for _ in range(SLOTS + 1):
        there.another()
    await there.shared_by(SLOTS)
    held = there.holders()
    runs = await one_of_each_slot(there)
    await there.scored(*runs)
    await there.ended(*runs)
    for process in there.processes[:SLOTS]:
        await process.stop()
    await there.shared_by(1)
    assert set(there.holders()).isdisjoint(held)
    await there.processes[SLOTS].stop()


async def test_every_aggregator_tells_the_scores_of_every_run(there: Installation) -> None:
    for _ in range(2):
        there.another()
    await there.shared_by(2)
    runs = await one_of_each_slot(there)
    await there.scored(*runs)
    await there.ended(*runs)
    for run in runs:
        for process in there.processes:
            found = await process.scores.scores(run.spec.run_id)
            assert found is not None
            assert found.state is RunState.COMPLETE
    for process in there.processes:
        await process.stop()


async def test_whoever_leads_nothing_yet_is_ready_once_it_reached_the_topics() -> None:
    [port] = free_ports(1)
    stream, store, clock = MemoryStream(logs=(VERDICTS, RUNS)), MemoryStore(), FakeClock()
    away = KafkaLog(KafkaAccess(f"127.0.0.1:{port}", patience=0.5))
    for logs, reached in ((away, False), (stream, True)):
        parts, _ = aggregator_parts(Ground(store, stream, logs, CODEC, clock))
        with nullcontext() if reached else pytest.raises(StreamUnavailable, match=RUNS):
            await parts.checks["topics"]()
