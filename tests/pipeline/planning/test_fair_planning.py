"""Small runs are planned while large ones are."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from tests.fakes import runs
from tests.fakes.clock import PATIENCE
from tests.fakes.stores import Gate, MemoryStore

from caliper.core.envelopes import Message
from caliper.core.keys import canonical_json
from caliper.core.messages import PlanJob
from caliper.core.run import RunSpec
from caliper.pipeline.planning.planner import LARGE, Planner
from caliper.pipeline.planning.publisher import PLAN_JOBS
from caliper.pipeline.store.plan import SUMMARY
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import run_store
from caliper.ports.storage import Sources
from caliper.wiring.grounds import memory_ground
from caliper.wiring.services import plan_stage

LARGE_RUNS = 5


class SizedSupplies:
    """Supplies of runs that are as large as their names say. Counts those in use."""

    def __init__(self) -> None:
        self.used, self.most = 0, 0

    async def has_dataset(self, digest: str) -> bool:
        return True

    has_captions = has_dataset

    @asynccontextmanager
    async def sources(self, spec: RunSpec) -> AsyncIterator[Mapping[str, Sources]]:
        size = LARGE + 1 if "large" in spec.name else LARGE
        found = replace(runs.sources(runs.choice_rows(2, 1), {"0": "A dog."}), size=size)
        self.used += 1
        self.most = max(self.most, self.used)
        yield {"captionqa": found}
        self.used -= 1


async def test_small_plans_do_not_wait_for_large_ones() -> None:
    store, supplies = MemoryStore(), SizedSupplies()
    ground = memory_ground(store)
    book = RunBook(ground.store, ground.clock)
    planner = Planner(ground.store, ground.stream, ground.codec, book, supplies)
    names = [*(f"large {number}" for number in range(LARGE_RUNS)), "small", "small too"]
    specs = [runs.spec(name=name) for name in names]
    shards = tuple(f"runs/{spec.run_id}/plan/0" for spec in specs[:LARGE_RUNS])
    gate = Gate("put")

    async def hold(call: str, key: str) -> None:
        if key.startswith(shards):
            await gate(call, key)

    planned = {f"runs/{spec.run_id}/{SUMMARY}": asyncio.Event() for spec in specs}

    async def note(call: str, key: str) -> None:
        if call == "put" and key in planned:
            planned[key].set()

    store.before, store.after = hold, note
    for spec in specs:
        await run_store(store, spec.run_id).put("spec.json", canonical_json(spec.to_json()))
        data = ground.codec.write(PlanJob(spec.run_id))
        await ground.stream.publish(Message(PLAN_JOBS, f"{spec.run_id}/plan", data))
    working = asyncio.create_task(plan_stage(ground, planner).run())
    *slow, first, second = planned.values()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(first.wait(), second.wait())
        assert not any(each.is_set() for each in slow)
        # Those that wait for their turns hold no data.
        assert supplies.used == 2
        gate.opened.set()
        await asyncio.gather(*(each.wait() for each in slow))
    assert supplies.most <= 4
    await ground.stream.close_topic(PLAN_JOBS)
    await working
