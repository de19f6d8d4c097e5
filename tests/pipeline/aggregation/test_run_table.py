import json

from tests.fakes.evaluations import SIZE, House, scored, set_up
from tests.fakes.runs import Planned

from caliper.core.keys import canonical_json
from caliper.core.run import RunState
from caliper.pipeline.aggregation.outlets import Trouble
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.store.runs import END, STARTED


async def test_a_run_of_a_newer_release_stops_no_other() -> None:
    house, run, aggregator = await set_up()
    for name in ("spec.json", "started.json"):
        house.store.objects[f"runs/{run.spec.run_id}/{name}"] = canonical_json({"schema": 999})
    await aggregator.apply(scored(run))
    assert set(house.warned) == {Trouble.LOST}
    found = await aggregator.scores(run.spec.run_id)
    assert found is not None
    assert found.state is RunState.FAILED


async def test_who_asks_too_early_costs_no_verdict() -> None:
    house, run, aggregator = await set_up()
    summary = f"runs/{run.spec.run_id}/plan/summary.json"
    plan = house.store.objects.pop(summary)
    early = await aggregator.scores(run.spec.run_id)
    house.store.objects[summary] = plan
    # Topics are read side by side: verdicts may come before the event that announces the plan.
    await aggregator.apply(scored(run))
    found = await aggregator.scores(run.spec.run_id)
    assert early is not None
    assert found is not None
    assert early.state is RunState.PLANNING
    assert sum(part.coverage.scored for part in found.benchmarks) == SIZE
    assert house.warned == []


async def test_verdicts_of_a_new_start_may_come_before_its_plan_is_announced() -> None:
    house, run, aggregator = await set_up()
    summary, started = (f"runs/{run.spec.run_id}/{name}" for name in ("plan/summary.json", STARTED))
    plan, house.store.objects[summary] = house.store.objects[summary], b""
    await aggregator.apply(scored(run))
    lost = await aggregator.scores(run.spec.run_id)
    house.store.objects[summary] = plan
    house.store.objects[started] = canonical_json({"schema": 1, "starts": 2})
    await aggregator.apply(scored(run))
    found = await aggregator.scores(run.spec.run_id)
    assert lost is not None
    assert found is not None
    assert lost.state is RunState.FAILED
    assert sum(part.coverage.scored for part in found.benchmarks) == SIZE


async def test_an_end_with_jobs_that_nobody_counted_is_read_whole() -> None:
    house, run, aggregator = await set_up()
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    end = f"runs/{run.spec.run_id}/{END}"
    written = json.loads(house.store.objects[end])
    house.store.objects[end] = canonical_json({**written, "shards": None})
    found = await Runs(house.store).open(run.spec.run_id, 0.0)
    assert found is not None
    assert written["files"]
    assert found.files == written["files"]


async def known(house: House, run: Planned) -> int:
    """How many outcomes the run's figures cover, as the other process stored it."""
    leader = await house.aggregator()
    await leader.apply(scored(run))
    await leader.conclude()
    return SIZE


async def test_who_stands_by_keeps_what_is_asked_for_and_drops_the_rest() -> None:
    house, run, aggregator = await set_up()
    await aggregator.stand_by()
    before = await aggregator.scores(run.spec.run_id)
    (ledger,) = aggregator.table
    scored_at_the_end = await known(house, run)
    after = await aggregator.scores(run.spec.run_id)
    assert [ledger] == list(aggregator.table)
    assert before is not None
    assert after is not None
    assert (before.state, after.state) == (RunState.RUNNING, RunState.COMPLETE)
    assert sum(part.coverage.scored for part in after.benchmarks) == scored_at_the_end
    house.clock.seconds += house.bounds.idle
    assert await aggregator.scores("f" * 16) is None
    assert list(aggregator.table) == []


async def test_a_dropped_run_leaves_no_verdicts_in_memory() -> None:
    house, run, aggregator = await set_up()
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    house.clock.seconds += house.bounds.idle
    await aggregator.conclude()
    assert list(aggregator.table) == []
    # Without them in the store, only memory would have them.
    for key in [key for key in house.store.objects if "/verdicts/" in key]:
        del house.store.objects[key]
    found = await aggregator.scores(run.spec.run_id)
    assert found is not None
    assert found.state is RunState.FAILED
