"""Scores as telemetry of runs that have ended: they stay, and what they are made of goes."""

import asyncio
import gc
import weakref

from tests.fakes import runs
from tests.fakes.evaluations import event_of, stored_run, verdict
from tests.fakes.observed_gauges import SAMPLES, Watching, judged, reported, told
from tests.fakes.stores import Gate, MemoryStore
from tests.fakes.telemetry import RecordedTelemetry

from caliper.core.keys import canonical_json
from caliper.core.messages import EventKind
from caliper.pipeline.store.plan import SHARD_ITEMS
from caliper.pipeline.store.runs import run_store
from caliper.ports.telemetry import Event, ScoresComputed


async def test_a_run_that_ended_lets_its_sums_go_until_an_outcome_changes(
    watching: Watching,
) -> None:
    run = await stored_run(watching.store)
    records = [judged(run, place, 1, None, offset=place) for place in range(SAMPLES)]
    for applied, followed in ((records[:1], True), (records[1:], True), ([], False)):
        await watching.board.apply(applied)
        await watching.gauges.look()
        assert watching.follows(run) == followed
    assert watching.of() == await reported(run, records)
    for place in range(2):
        shown = watching.of()
        records.append(judged(run, place, 1, 0, offset=SAMPLES + place))
        await watching.board.apply(records[-1:])
        for _ in range(3):
            await watching.gauges.look()
        assert watching.of() == await reported(run, records) != shown
        # Counted anew once: there may be more to come.
        assert watching.follows(run)


async def test_a_run_that_was_forgotten_is_let_go_and_taken_up_again(watching: Watching) -> None:
    run = await stored_run(watching.store)
    records = [judged(run, place, 1, None, offset=place) for place in range(SAMPLES)]
    await watching.board.apply([event_of(run, EventKind.PLAN, 1000), *records])
    await watching.board.conclude()
    await watching.gauges.look()
    shown = watching.of()
    assert shown == await reported(run, records)
    held = weakref.ref(watching.ledger_of(run).ledger)
    watching.clock.seconds += 10_000
    await watching.board.conclude()
    gc.collect()
    assert held() is None
    # A dead letter that was replayed.
    records.append(judged(run, 0, 1, 0, offset=SAMPLES))
    await watching.board.apply(records[-1:])
    assert watching.of() == shown
    await watching.gauges.look()
    assert watching.of() == await reported(run, records) != shown


async def test_scores_of_a_run_that_ended_go_when_the_next_one_begins(watching: Watching) -> None:
    first = await stored_run(watching.store)
    second = await stored_run(watching.store, seed=1)
    await watching.board.apply([event_of(first, EventKind.PLAN, 1000)])
    await watching.board.apply([judged(first, place, 1, 1) for place in range(SAMPLES)])
    await watching.gauges.look()
    await watching.gauges.look()
    assert watching.score() == 100
    await watching.board.apply([event_of(second, EventKind.PLAN, 2000)])
    # Until it has a score of its own, there is none.
    await watching.board.apply([judged(second, 0, None, offset=1)])
    assert watching.of() == {}


async def test_a_run_that_is_forgotten_before_it_could_be_counted_is_counted_yet() -> None:
    store = MemoryStore()
    watching = Watching(store)
    await watching.begin()
    run = await stored_run(store)
    records = [judged(run, place, 1, 0, offset=place) for place in range(SAMPLES)]
    await watching.board.apply([event_of(run, EventKind.PLAN, 1000), *records])
    await watching.board.conclude()
    await watching.board.snapshot()
    later = Watching(store, watching.clock)
    await later.begin()
    held = weakref.ref(later.ledger_of(run).ledger)
    store.away = {"get": "/plan/0"}
    await later.gauges.look()
    later.clock.seconds += 10_000
    await later.board.conclude()
    await later.gauges.look()
    assert later.of() == {}
    store.away = {}
    await later.gauges.look()
    assert later.of() == await reported(run, records)
    gc.collect()
    assert held() is None


async def test_what_is_lost_while_a_run_is_counted_is_counted_at_the_next_look() -> None:
    store, samples = MemoryStore(), SHARD_ITEMS + 1
    spec = runs.spec(name="ours")
    kept = run_store(store, spec.run_id)
    await kept.put("spec.json", canonical_json(spec.to_json()))
    rows = {"captionqa": runs.sources(runs.choice_rows(samples, 1), {})}
    run = await runs.planned(spec, rows, kept)
    watching = Watching(store)
    await watching.begin()
    records = [told(run, 0, [verdict(0)])]
    await watching.board.apply([event_of(run, EventKind.PLAN, 1000), *records])
    await watching.board.snapshot()
    later = Watching(store, watching.clock, most_changes=SHARD_ITEMS)
    await later.begin()
    # What comes is checked against the plan, which is read once for that.
    await later.board.apply(records)
    store.before = gate = Gate("get", "/plan/000001")
    looking = asyncio.create_task(later.gauges.look())
    await gate.reached.wait()
    # Of the first sample, which was counted, and of so many that those before are dropped.
    records += [
        told(run, place, [verdict(place, place % 2)], place + 1) for place in range(samples)
    ]
    await later.board.apply(records[1:])
    gate.opened.set()
    await looking
    await later.gauges.look()
    assert later.of() == await reported(run, records)


async def test_the_sums_of_one_run_at_a_time_are_held_of_those_that_ended() -> None:
    watching = Watching()
    await watching.begin()
    ended = [await stored_run(watching.store, name) for name in ("a", "b", "c")]
    for run in ended:
        records = [judged(run, place, 1, 0, offset=place) for place in range(SAMPLES)]
        await watching.board.apply([event_of(run, EventKind.PLAN, 1000), *records])
    await watching.board.conclude()
    await watching.board.snapshot()
    alone: list[bool] = []

    class Counting(RecordedTelemetry):
        def record(self, event: Event) -> None:
            if isinstance(event, ScoresComputed):
                alone.append(later.board.live.turn.locked() and not any(map(later.follows, ended)))
            super().record(event)

    later = Watching(watching.store, watching.clock, Counting())
    await later.begin()
    await later.gauges.look()
    assert alone == [True, True, True]
