"""Aggregators of one slot: which runs they have, and where they begin."""

from dataclasses import replace

from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import House, scored, stored_run, verdict, verdicts_of
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryStore

from caliper.core.envelopes import Message, Record
from caliper.pipeline.aggregation.outlets import Bounds, Trouble
from caliper.pipeline.aggregation.slots import SLOTS, Slot, SlotIndex, slot_of
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.store.run_book import RunBook


def house_of(store: MemoryStore, number: int) -> House:
    slot = Slot(number, SlotIndex(RunBook(store, FakeClock())))
    return House(store, bounds=Bounds(slot=slot))


async def two_runs(store: MemoryStore) -> list[Planned]:
    runs = [await stored_run(store, name) for name in ("run 0", "run 1")]
    assert [slot_of(run.spec.name) for run in runs] == [0, 2]
    return runs


async def test_an_aggregator_of_a_slot_leaves_out_the_runs_of_others() -> None:
    house = House()
    runs = await two_runs(house.store)
    records = [*scored(runs[0]), *scored(runs[1])]
    records = [replace(record, offset=offset) for offset, record in enumerate(records)]
    for run in runs:
        aggregator = await house_of(house.store, slot_of(run.spec.name)).aggregator()
        await aggregator.apply(records)
        assert [each.run for each in aggregator.table] == [run.spec.run_id]
        assert aggregator.places.offsets == {VERDICTS: {0: len(records)}}


async def test_a_slot_resumes_from_its_own_snapshot() -> None:
    store = MemoryStore()
    for place, run in enumerate(await two_runs(store)):
        own = house_of(store, slot_of(run.spec.name))
        aggregator = await own.aggregator()
        await aggregator.apply([verdicts_of(run, [verdict(0, 1)], 10 + place)])
        await aggregator.snapshot()
        restored = await own.aggregator()
        assert [each.run for each in restored.table] == [run.spec.run_id]
        assert restored.places.offsets == {VERDICTS: {0: 11 + place}}


async def test_what_belongs_to_no_run_is_reported_by_one_slot() -> None:
    store = MemoryStore()
    unknown = await stored_run(MemoryStore())
    garbage = Record(0, 7, 7, Message(VERDICTS, "garbage", b"garbage"))
    warned = []
    for number in range(SLOTS):
        house = house_of(store, number)
        aggregator = await house.aggregator()
        await aggregator.apply([*scored(unknown)[:1], garbage])
        warned.append(house.warned)
    assert warned == [[Trouble.UNKNOWN_RUN, Trouble.REFUSED], [], [], []]


async def test_a_run_that_is_stored_after_it_was_asked_for_is_found_by_its_event() -> None:
    store = MemoryStore()
    run = await stored_run(MemoryStore(), "run 1")
    slot = Slot(slot_of("run 1"), SlotIndex(RunBook(store, FakeClock())))
    early = scored(run)[0]
    assert not await slot.has(early)
    await stored_run(store, "run 1")
    assert not await slot.has(early)
    assert await slot.has(replace(early, message=replace(early.message, topic=RUNS)))
    assert await slot.has(early)
