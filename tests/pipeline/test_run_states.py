import asyncio
import json

import pytest
from tests.fakes.evaluations import (
    CODEC,
    SIZE,
    House,
    event_of,
    scored,
    set_up,
    verdict,
    verdicts_of,
)
from tests.fakes.runs import Planned

from caliper.core.envelopes import Message, Record
from caliper.core.errors import InvalidInput
from caliper.core.messages import EventKind, PlanMade
from caliper.core.run import RunState
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.reports.rolling_scores import RollingScores
from caliper.ports.stages import Scores


def planned(run: str, start: int, asked: int | None = None) -> Record:
    data = CODEC.write(PlanMade(run, SIZE, start, asked))
    return Record(0, start, start, Message(RUNS, f"{run}/plan", data))


async def state_of(aggregator: Aggregator, run: str) -> RunState | None:
    found = await aggregator.scores(run)
    return found and found.state


async def state(house: House, events: list[Record], *, quiet: bool = True) -> RunState | None:
    aggregator = await house.aggregator()
    await aggregator.apply(events)
    house.clock.seconds += 5 if quiet else 0
    await aggregator.conclude()
    return await state_of(aggregator, events[0].message.key.partition("/")[0])


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
    house, run, _ = await set_up()
    events = [event_of(run, EventKind(kind), when, "why") for when, kind in enumerate(kinds)]
    for order in (events, events[::-1]):
        assert await state(house, order) == expected
    assert {event.state for event in house.announced} <= {expected}


async def test_a_cancelled_run_waits_for_what_is_in_flight() -> None:
    house, run, _ = await set_up()
    events = [event_of(run, EventKind.CANCEL, 1), *scored(run)[:1]]
    assert await state(house, events, quiet=False) is RunState.CANCELLING
    assert house.announced == []
    assert await state(house, events) is RunState.CANCELLED
    assert json.loads(house.file(run) or b"")["state"] == "cancelled"


async def test_a_cancelled_run_that_is_all_in_is_complete() -> None:
    house, run, _ = await set_up()
    events = [event_of(run, EventKind.CANCEL, 1), *scored(run)]
    assert await state(house, events, quiet=False) is RunState.COMPLETE


async def test_a_run_without_a_plan_is_planning() -> None:
    house, run, _ = await set_up()
    summary = house.store.objects.pop(f"runs/{run.spec.run_id}/plan/summary.json")
    aggregator = await house.aggregator()
    assert await state_of(aggregator, run.spec.run_id) is RunState.PLANNING
    house.store.objects[f"runs/{run.spec.run_id}/plan/summary.json"] = summary
    await aggregator.apply([event_of(run, EventKind.PLAN, 1), *scored(run)])
    assert aggregator.troubles == {}
    found = await aggregator.scores(run.spec.run_id)
    assert found is not None
    assert found.benchmarks[0].coverage.scored == SIZE


async def test_scores_cost_a_tenth_of_the_time() -> None:
    house, run, aggregator = await set_up()
    get = house.store.get

    async def slow(key: str, most: int | None = None) -> bytes | None:
        house.clock.seconds += 2 if "/plan/0" in key else 0
        return await get(key, most)

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
    # The plan is read to count it, and then for the first sample that changed.
    assert house.clock.seconds == 2 * 2 + 27 * 2


async def open_run() -> tuple[House, RunLedger]:
    house, stored, _ = await set_up()
    run = await Runs(house.store).open(stored.spec.run_id, 0.0)
    assert run is not None
    return house, run


async def test_scores_that_take_long_keep_nobody_waiting() -> None:
    house, run = await open_run()
    get, going = house.store.get, asyncio.Event()
    begun = 0

    async def slow(key: str, most: int | None = None) -> bytes | None:
        nonlocal begun
        begun += "/plan/0" in key
        await going.wait()
        return await get(key, most)

    house.store.get = slow  # type: ignore[method-assign]
    rolling = RollingScores(house.clock, LiveTallies(), patience=0.01)
    for _ in range(3):
        assert await rolling.scores(run) == Scores(RunState.RUNNING, ())
    assert begun == 1
    going.set()
    while not (found := await rolling.scores(run)).benchmarks:
        pass
    assert found.benchmarks[0].coverage.planned == SIZE
    assert begun == 1


async def test_scores_wait_for_their_turn() -> None:
    house, run = await open_run()
    tallies = LiveTallies()
    rolling = RollingScores(house.clock, tallies, patience=0.01)
    async with tallies.turn:
        assert await rolling.scores(run) == Scores(RunState.RUNNING, ())
    while not (found := await rolling.scores(run)).benchmarks:
        pass
    assert found.benchmarks[0].coverage.planned == SIZE


async def test_who_asks_hears_that_scores_cannot_be_computed() -> None:
    house, run = await open_run()
    del house.store.objects[f"runs/{run.spec.run_id}/plan/000000.jsonl.gz"]
    rolling = RollingScores(house.clock, LiveTallies())
    for _ in range(2):
        with pytest.raises(InvalidInput):
            await rolling.scores(run)


async def test_a_run_is_over_once_its_end_is_kept() -> None:
    house, run, aggregator = await set_up()
    await aggregator.apply([event_of(run, EventKind.PLAN, 0), *scored(run)])
    put, seen = house.store.put, []

    async def watched(key: str, data: bytes) -> None:
        state = await state_of(aggregator, run.spec.run_id)
        if key.endswith("end.json") and not seen:
            seen.append(state)
        await put(key, data)

    house.store.put = watched  # type: ignore[method-assign]
    await aggregator.conclude()
    ended = await state_of(aggregator, run.spec.run_id)
    assert (seen, ended) == ([RunState.RUNNING], RunState.COMPLETE)


async def test_the_last_start_whose_plan_was_heard_of_is_told() -> None:
    house, run, aggregator = await set_up()
    name = run.spec.run_id
    await aggregator.apply([planned(name, 1), planned(name, 3)])
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


async def finished() -> tuple[House, Planned, Aggregator]:
    """All outcomes are known, and the last is none that a second try could not better."""
    house, run, aggregator = await set_up(coverage_floor=0.9)
    missing = [verdict(SIZE - 1), verdict(SIZE - 2)]
    rest = [verdict(index, 1) for index in range(SIZE - 2)]
    await aggregator.apply([planned(run.spec.run_id, 1), verdicts_of(run, [*rest, *missing])])
    await aggregator.conclude()
    return house, run, aggregator


async def test_a_finished_run_that_is_started_again_goes_on_until_all_was_tried() -> None:
    house, run, aggregator = await finished()
    name = run.spec.run_id
    seen = []
    for record in (
        planned(name, 2),
        verdicts_of(run, [verdict(SIZE - 1, 1)], 1),
        verdicts_of(run, [verdict(SIZE - 2)], 2),
    ):
        await aggregator.apply([record])
        await aggregator.snapshot()
        # Another one takes it up there.
        aggregator = await house.aggregator()
        house.clock.seconds += 60
        await aggregator.conclude()
        found = await aggregator.scores(name)
        seen.append(found and (found.state, found.start))
    assert seen == [(RunState.RUNNING, 2), (RunState.RUNNING, 2), (RunState.FINISHED, 2)]
    assert json.loads(house.store.objects[f"runs/{name}/end.json"])["start"] == 2


async def test_what_a_cap_on_calls_leaves_out_is_not_waited_for() -> None:
    house, run, aggregator = await finished()
    name = run.spec.run_id
    # The last two were not scored; the second start asks one of them again.
    seen = []
    for record in (planned(name, 2, SIZE - 1), verdicts_of(run, [verdict(SIZE - 2)], 1)):
        await aggregator.apply([record])
        house.clock.seconds += 60
        await aggregator.conclude()
        seen.append(await state_of(aggregator, name))
    assert seen == [RunState.RUNNING, RunState.FINISHED]


@pytest.mark.parametrize("event", [EventKind.CANCEL, EventKind.FAIL, None])
async def test_a_finished_run_whose_second_try_ends_is_as_it_was(event: EventKind | None) -> None:
    house, run, aggregator = await finished()
    await aggregator.apply([planned(run.spec.run_id, 2)])
    if event is None:
        house.clock.seconds += house.bounds.idle
    else:
        await aggregator.apply([event_of(run, event, 9)])
    await aggregator.conclude()
    assert await state_of(aggregator, run.spec.run_id) is RunState.FINISHED


async def test_a_first_start_that_is_heard_of_late_holds_nothing_up() -> None:
    _, run, aggregator = await set_up(coverage_floor=0.9)
    outcomes = [verdict(index) for index in range(SIZE)]
    await aggregator.apply([verdicts_of(run, outcomes), planned(run.spec.run_id, 1)])
    await aggregator.conclude()
    assert await state_of(aggregator, run.spec.run_id) is RunState.FINISHED


async def test_a_run_that_is_started_again_and_ends_as_before_is_announced_again() -> None:
    house, run, _ = await set_up()
    name = run.spec.run_id
    assert await state(house, [planned(name, 1), *scored(run)]) is RunState.COMPLETE
    assert await state(house, house.ends()) is RunState.COMPLETE
    assert len(house.announced) == 1
    assert await state(house, [planned(name, 2)]) is RunState.COMPLETE
    assert len(house.announced) == 2
