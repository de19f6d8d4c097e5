"""Where runs stand, and their scores on the way."""

import json

import pytest
from tests.fakes.evaluations import CODEC, SIZE, House, event_of, scored, stored_run

from caliper.core.run import RunState
from caliper.pipeline.publish import RUNS
from caliper.ports.codec import EventKind, PlanMade
from caliper.ports.stream import Message, Record


async def state(house: House, events: list[Record], *, quiet: bool = True) -> RunState | None:
    aggregator = await house.aggregator()
    await aggregator.apply(events)
    house.clock.seconds += 5 if quiet else 0
    await aggregator.conclude()
    found = await aggregator.scores(events[0].message.key.partition("/")[0])
    return found and found.state


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["plan"], "running"),
        (["plan", "cancel"], "cancelled"),
        (["plan", "fail"], "failed"),
        (["plan", "cancel", "plan"], "running"),
        (["fail", "plan", "cancel"], "cancelled"),
    ],
)
async def test_the_last_event_says_where_a_run_stands(kinds: list[str], expected: str) -> None:
    house = House()
    run = await stored_run(house.store)
    events = [event_of(run, EventKind(kind), when, "why") for when, kind in enumerate(kinds)]
    for order in (events, events[::-1]):
        assert await state(house, order) == expected
    assert {event.state for event in house.announced} <= {expected}


async def test_a_cancelled_run_waits_for_what_is_in_flight() -> None:
    house = House()
    run = await stored_run(house.store)
    events = [event_of(run, EventKind.CANCEL, 1), *scored(run)[:1]]
    assert await state(house, events, quiet=False) is RunState.CANCELLING
    assert house.announced == []
    assert await state(house, events) is RunState.CANCELLED
    assert json.loads(house.file(run) or b"")["state"] == "cancelled"


async def test_a_cancelled_run_that_is_all_in_is_complete() -> None:
    house = House()
    run = await stored_run(house.store)
    events = [event_of(run, EventKind.CANCEL, 1), *scored(run)]
    assert await state(house, events, quiet=False) is RunState.COMPLETE


async def test_a_run_without_a_plan_is_planning() -> None:
    house = House()
    run = await stored_run(house.store)
    summary = house.store.objects.pop(f"runs/{run.spec.run_id}/plan/summary.json")
    aggregator = await house.aggregator()
    found = await aggregator.scores(run.spec.run_id)
    assert found is not None
    assert found.state is RunState.PLANNING
    house.store.objects[f"runs/{run.spec.run_id}/plan/summary.json"] = summary
    await aggregator.apply([event_of(run, EventKind.PLAN, 1), *scored(run)])
    assert aggregator.troubles == {}
    found = await aggregator.scores(run.spec.run_id)
    assert found is not None
    assert found.benchmarks[0].coverage.scored == SIZE


async def test_scores_cost_a_tenth_of_the_time() -> None:
    house = House()
    run = await stored_run(house.store)
    aggregator = await house.aggregator()
    get = house.store.get

    async def slow(key: str) -> bytes | None:
        house.clock.seconds += 2 if "/plan/0" in key else 0
        return await get(key)

    house.store.get = slow  # type: ignore[method-assign]
    seen = []
    for record in scored(run):
        await aggregator.apply([record])
        for _ in range(9):
            found = await aggregator.scores(run.spec.run_id)
            assert found is not None
            seen.append(found.benchmarks[0].coverage.scored)
            house.clock.seconds += 2
    assert seen == [2] * 9 + [4] * 9 + [6] * 9
    assert house.clock.seconds == 3 * 2 + 27 * 2


async def test_a_run_is_over_once_its_end_is_kept() -> None:
    house = House()
    run = await stored_run(house.store)
    aggregator = await house.aggregator()
    await aggregator.apply([event_of(run, EventKind.PLAN, 0), *scored(run)])
    put, seen = house.store.put, []

    async def watched(key: str, data: bytes) -> None:
        found = await aggregator.scores(run.spec.run_id)
        if key.endswith("end.json") and not seen:
            seen.append(found and found.state)
        await put(key, data)

    house.store.put = watched  # type: ignore[method-assign]
    await aggregator.conclude()
    found = await aggregator.scores(run.spec.run_id)
    assert (seen, found and found.state) == ([RunState.RUNNING], RunState.COMPLETE)


async def test_the_last_start_whose_plan_was_heard_of_is_told() -> None:
    house = House()
    run = await stored_run(house.store)
    name = run.spec.run_id
    started = [
        Record(
            0, place, place, Message(RUNS, f"{name}/plan", CODEC.write(PlanMade(name, SIZE, start)))
        )
        for place, start in enumerate((1, 3))
    ]
    aggregator = await house.aggregator()
    await aggregator.apply(started)
    await aggregator.snapshot()
    for one in (aggregator, await house.aggregator()):
        found = await one.scores(name)
        assert found is not None
        assert found.start == 3
    await aggregator.apply([event_of(run, EventKind.FAIL, 9, "why")])
    house.clock.seconds += 5
    await aggregator.conclude()
    end = json.loads(house.store.objects[f"runs/{name}/end.json"])
    assert (end["state"], end["start"]) == ("failed", 3)
