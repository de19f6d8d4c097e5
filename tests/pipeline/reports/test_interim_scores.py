import asyncio

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import SIZE, House, scored, set_up
from tests.fakes.stores import MemoryStore

from caliper.core.errors import InvalidInput
from caliper.core.run import RunState
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.interim_scores import InterimScores
from caliper.ports.stages import Scores


class SlowStore(MemoryStore):
    """Every shard of a plan that is read takes a second."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()

    async def before(self, call: str, key: str) -> None:
        if call == "get" and "/plan/" in key:
            await self.clock.sleep(1)


def known(found: Scores | None) -> int:
    assert found is not None
    return sum(part.coverage.scored for part in found.benchmarks)


async def ended_in(store: SlowStore) -> RunLedger:
    """A run that ended, as who opens it later finds it."""
    _, run, aggregator = await set_up(House(store, store.clock))
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    found = await Runs(store).open(run.spec.run_id, 0.0)
    assert found is not None
    return found


async def test_figures_wait_until_they_are_cheap_but_not_those_of_the_end() -> None:
    store = SlowStore()
    _, run, aggregator = await set_up(House(store, store.clock))
    first, second, *others = scored(run)
    await aggregator.apply([first])
    before = known(await aggregator.scores(run.spec.run_id))
    await aggregator.apply([second])
    assert known(await aggregator.scores(run.spec.run_id)) == before < SIZE
    await aggregator.apply(others)
    await aggregator.conclude()
    # Several ask at once, and none of them is told less than the report has.
    found = await asyncio.gather(*(aggregator.scores(run.spec.run_id) for _ in range(3)))
    for one in found:
        assert one is not None
        assert (one.state, known(one)) == (RunState.COMPLETE, SIZE)


async def test_the_figures_of_the_end_are_those_of_its_report() -> None:
    store = SlowStore()
    _, run, aggregator = await set_up(House(store, store.clock))
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    before = store.clock.seconds
    assert known(await aggregator.scores(run.spec.run_id)) == SIZE
    assert store.clock.seconds == before


async def test_a_report_takes_the_figures_that_are_there() -> None:
    times = []
    for ask in (False, True):
        store = SlowStore()
        _, run, aggregator = await set_up(House(store, store.clock))
        await aggregator.apply(scored(run))
        if ask:
            assert known(await aggregator.scores(run.spec.run_id)) == SIZE
        before = store.clock.seconds
        await aggregator.conclude()
        times.append(store.clock.seconds - before)
    assert times[0] == times[1] + 1


async def test_the_figures_of_a_run_that_ended_long_ago_are_computed_once() -> None:
    store = SlowStore()
    opened = await ended_in(store)
    rolling, before = InterimScores(store.clock, LiveTallies()), store.clock.seconds
    await asyncio.gather(*(rolling.scores(opened) for _ in range(3)))
    once = store.clock.seconds - before
    for _ in range(3):
        assert known(await rolling.scores(opened)) == SIZE
    assert store.clock.seconds - before == once == 1


async def test_nobody_is_told_old_figures_of_a_run_that_is_over() -> None:
    store = SlowStore()
    ended = await ended_in(store)
    # It takes longer than anybody waits.
    rolling = InterimScores(store.clock, LiveTallies(), patience=0)
    hasty = await rolling.scores(ended)
    assert (hasty.state, hasty.benchmarks) == (RunState.COMPLETE, ())
    assert known(await rolling.scores(ended, wait=True)) == SIZE
    assert known(await rolling.scores(ended)) == SIZE


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
    # The plan is read to check verdicts, to count it, and for the first sample that changed.
    assert house.clock.seconds == 3 * 2 + 27 * 2


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
    rolling = InterimScores(house.clock, LiveTallies(), patience=0.01)
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
    rolling = InterimScores(house.clock, tallies, patience=0.01)
    async with tallies.turn:
        assert await rolling.scores(run) == Scores(RunState.RUNNING, ())
    while not (found := await rolling.scores(run)).benchmarks:
        pass
    assert found.benchmarks[0].coverage.planned == SIZE


async def test_who_asks_hears_that_scores_cannot_be_computed() -> None:
    house, run = await open_run()
    del house.store.objects[f"runs/{run.spec.run_id}/plan/000000.jsonl.gz"]
    rolling = InterimScores(house.clock, LiveTallies())
    for _ in range(2):
        with pytest.raises(InvalidInput):
            await rolling.scores(run)
