import json

import pytest
from tests.fakes.evaluations import (
    CODEC,
    SIZE,
    House,
    cancel,
    event_of,
    messages_of,
    scored,
    set_up,
    standalone,
    stored_run,
    verdict,
    verdicts_of,
)
from tests.fakes.runs import Planned

from caliper.core.envelopes import Message, Record
from caliper.core.messages import EventKind, PlanMade
from caliper.core.run import RunState
from caliper.core.terms import Terms
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.store.runs import is_cancelled, is_stopped, note_start


def planned(run: str, start: int, asked: int | None = None) -> Record:
    data = CODEC.write(PlanMade(run, SIZE, start, asked))
    return Record(0, start, start, Message(RUNS, f"{run}/plan", data))


async def state_of(aggregator: Aggregator, run: str) -> RunState | None:
    return (found := await aggregator.scores(run)) and found.state


async def state(house: House, events: list[Record], *, quiet: bool = True) -> RunState | None:
    aggregator = await house.aggregator()
    await aggregator.apply(events)
    house.clock.seconds += 5 if quiet else 0
    await aggregator.conclude()
    return await state_of(aggregator, events[0].message.key.partition("/")[0])


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["plan 1"], "running"),
        (["plan 1", "fail 1"], "failed"),
        (["plan 1", "fail 1", "plan 2"], "running"),
        (["fail 1", "plan 2", "fail 2"], "failed"),
    ],
)
@pytest.mark.parametrize("skew", [1, -1])
async def test_the_last_start_says_where_a_run_stands_whatever_the_clocks_say(
    kinds: list[str], expected: str, skew: int
) -> None:
    house, run, _ = await set_up()
    events = []
    for place, each in enumerate(kinds):
        kind, start = each.split()
        # With a skew of -1 the clock of every publisher is behind that of the one before.
        events.append(event_of(run, EventKind(kind), 600 + skew * place, "why", int(start)))
    for order in (events, events[::-1]):
        assert await state(house, order) == expected
    assert {event.state for event in house.announced} <= {expected}


async def test_a_cancelled_run_waits_for_what_is_in_flight() -> None:
    house, run, aggregator = await set_up()
    await aggregator.apply(scored(run)[:1])
    await cancel(house, run, aggregator)
    for end, seconds in ((RunState.CANCELLING, 4), (RunState.CANCELLED, 1)):
        house.clock.seconds += seconds
        await aggregator.conclude()
        assert await state_of(aggregator, run.spec.run_id) is end
        assert len(house.announced) == (end is RunState.CANCELLED)
    assert json.loads(house.file(run) or b"")["state"] == "cancelled"


async def test_a_cancelled_run_that_is_all_in_is_complete() -> None:
    house, run, aggregator = await set_up()
    await aggregator.apply(scored(run)[:1])
    await cancel(house, run, aggregator)
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    assert await state_of(aggregator, run.spec.run_id) is RunState.COMPLETE


async def test_a_start_outdates_the_cancellation_of_the_one_before() -> None:
    house, run, aggregator = await set_up()
    name = run.spec.run_id
    await note_start(run.store, Terms(), house.clock.now())
    await aggregator.apply([planned(name, 1)])
    await cancel(house, run, aggregator)
    assert await is_cancelled(run.store)
    await note_start(run.store, Terms(), house.clock.now())
    assert not await is_cancelled(run.store)
    await aggregator.apply([planned(name, 2)])
    house.clock.seconds += 2
    await aggregator.conclude()
    assert await state_of(aggregator, name) is RunState.RUNNING


@pytest.mark.parametrize("event", ["cancel", "fail"])
async def test_a_start_that_was_cancelled_or_failed_needs_no_more_work(event: str) -> None:
    house, run, aggregator = await set_up()
    name = run.spec.run_id
    await note_start(run.store, Terms(), house.clock.now())
    await aggregator.apply([planned(name, 1), *scored(run)[:1]])
    assert not await is_stopped(run.store)
    if event == "cancel":
        await cancel(house, run, aggregator)
    else:
        await aggregator.apply([event_of(run, EventKind.FAIL, 1, "another model", 1)])
        house.clock.seconds += 5
        await aggregator.conclude()
    assert await is_stopped(run.store)
    await note_start(run.store, Terms(), house.clock.now())
    assert not await is_stopped(run.store)


async def test_a_run_with_every_outcome_takes_replayed_jobs() -> None:
    house, run, aggregator = await set_up()
    await note_start(run.store, Terms(), house.clock.now())
    await aggregator.apply([planned(run.spec.run_id, 1), *scored(run)])
    await aggregator.conclude()
    assert await state_of(aggregator, run.spec.run_id) is RunState.COMPLETE
    assert not await is_stopped(run.store)


async def run_slowly(house: House, aggregator: Aggregator) -> None:
    get = house.store.get

    async def slow(key: str, most: int | None = None) -> bytes | None:
        house.clock.seconds += 1 if "/plan/0" in key else 0
        return await get(key, most)

    house.store.get = slow  # type: ignore[method-assign]
    for number in range(20):
        await aggregator.apply(scored(await stored_run(house.store, f"run {number}")))


async def test_an_end_is_reported_at_once_however_many_runs_there_are() -> None:
    house, run, aggregator = await set_up()
    await run_slowly(house, aggregator)
    name = run.spec.run_id
    await aggregator.apply([planned(name, 1), event_of(run, EventKind.FAIL, 1, "why")])
    house.clock.seconds += 5
    await aggregator.conclude()
    await aggregator.apply([planned(name, 2), *scored(run)])
    await aggregator.conclude()
    assert await state_of(aggregator, name) is RunState.COMPLETE


async def test_a_better_report_of_the_same_end_waits_for_nobody_else() -> None:
    house, run, aggregator = await set_up(coverage_floor=0.5)
    await run_slowly(house, aggregator)
    await aggregator.apply(messages_of(run, [verdict(index) for index in range(SIZE)]))
    await aggregator.conclude()
    await aggregator.apply(scored(run))
    # Its own report took a few seconds; those of all runs together take twenty times as long.
    house.clock.seconds += 100
    await aggregator.conclude()
    assert house.file(run) == (await standalone(run, scored(run)))[0]


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
    await aggregator.apply([planned(run.spec.run_id, 1), *messages_of(run, [*rest, *missing])])
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


@pytest.mark.parametrize("event", ["cancel", "fail", None])
async def test_a_finished_run_whose_second_try_ends_is_as_it_was(event: str | None) -> None:
    house, run, aggregator = await finished()
    await aggregator.apply([planned(run.spec.run_id, 2)])
    if event is None:
        house.clock.seconds += house.bounds.idle
    elif event == "fail":
        await aggregator.apply([event_of(run, EventKind.FAIL, 9)])
    else:
        await cancel(house, run, aggregator)
    await aggregator.conclude()
    assert await state_of(aggregator, run.spec.run_id) is RunState.FINISHED


async def test_a_first_start_that_is_heard_of_late_holds_nothing_up() -> None:
    _, run, aggregator = await set_up(coverage_floor=0.9)
    outcomes = [verdict(index) for index in range(SIZE)]
    await aggregator.apply([*messages_of(run, outcomes), planned(run.spec.run_id, 1)])
    await aggregator.conclude()
    assert await state_of(aggregator, run.spec.run_id) is RunState.FINISHED


async def test_a_run_that_is_started_again_and_ends_as_before_is_announced_again() -> None:
    house, run, _ = await set_up()
    first, second = (planned(run.spec.run_id, start) for start in (1, 2))
    assert await state(house, [first, *scored(run)]) is RunState.COMPLETE
    assert await state(house, house.ends()) is RunState.COMPLETE
    assert len(house.announced) == 1
    assert (await state(house, [second]), len(house.announced)) == (RunState.COMPLETE, 2)
