"""Scores as telemetry: what they say is what a report of the same verdicts says."""

import asyncio
from random import Random

import pytest
from tests.fakes import runs
from tests.fakes.evaluations import event_of, stored_run, verdict
from tests.fakes.observed_gauges import NOW, SAMPLES, Watching, judged, reported, told
from tests.fakes.stores import MemoryStore
from tests.fakes.telemetry import RecordedTelemetry, until

from caliper.core.keys import canonical_json
from caliper.core.messages import EventKind
from caliper.core.owners import DEFAULT_TEAM
from caliper.pipeline.live.gauges import Scope
from caliper.pipeline.store.owners import run_owners
from caliper.pipeline.store.runs import run_store, write_json
from caliper.ports.telemetry import (
    Event,
    ModelForgotten,
    RecordsApplied,
    RunStarted,
    ScoresComputed,
    SnapshotSaved,
    VerdictVisible,
    Window,
)


async def test_the_whole_run_is_what_a_report_says_after_every_look(watching: Watching) -> None:
    run = await stored_run(watching.store)
    records = [
        judged(run, 0, 1, 0, offset=1),
        judged(run, 1, None, 1, offset=2),
        judged(run, 2, 1, 1, offset=3),
        judged(run, 1, 0, 1, offset=4),
        judged(run, 0, 1, 0, offset=5),
    ]
    for count, record in enumerate(records, start=1):
        await watching.board.apply([record])
        await watching.gauges.look()
        assert watching.of() == await reported(run, records[:count])
    told = watching.told.questions["ours", "captionqa"]
    assert told == {"planned": 6, "scored": 6, "unscored": 0, "open": 0}


async def test_questions_are_open_until_the_run_is_dropped(watching: Watching) -> None:
    run = await stored_run(watching.store)
    await watching.board.apply([judged(run, 0, 1, None)])
    await watching.gauges.look()
    counts = {"planned": 6, "scored": 1, "unscored": 1}
    assert watching.told.questions["ours", "captionqa"] == {**counts, "open": 4}
    await watching.board.stand_by()
    assert watching.told.questions["ours", "captionqa"] == {**counts, "open": 0}


async def test_questions_are_open_before_the_first_verdict(watching: Watching) -> None:
    run = await stored_run(watching.store)
    await watching.board.apply([event_of(run, EventKind.PLAN, 1000)])
    await watching.gauges.look()
    counts = {"planned": 6, "scored": 0, "unscored": 0, "open": 6}
    assert watching.told.questions["ours", "captionqa"] == counts


async def test_an_average_that_lacks_a_planned_domain_is_no_score(watching: Watching) -> None:
    run = await stored_run(watching.store, domains=("natural", "document"))
    await watching.board.apply([judged(run, 0, 1, 0, offset=1)])
    await watching.gauges.look()
    for window in Window:
        assert watching.of(window)["natural", "accuracy"].value == 50
        assert ("overall", "accuracy") not in watching.of(window)
    await watching.board.apply([judged(run, 1, 1, 1, offset=2)])
    await watching.gauges.look()
    assert all(watching.score(window) == 75 for window in Window)


async def test_order_and_doubles_change_nothing() -> None:
    found = []
    for seed in range(4):
        watching = Watching(scope=Scope(last=3))
        await watching.begin()
        run = await stored_run(watching.store)
        records = [judged(run, place, 1, place % 2, offset=place) for place in range(SAMPLES)]
        Random(seed).shuffle(records)
        for record in [*records, records[0]]:
            await watching.board.apply([record])
            if seed % 2:
                await watching.gauges.look()
        await watching.gauges.look()
        found.append(watching.told.scores)
        assert watching.told.verdicts["ours", "captionqa", "scored"] == 6
    assert all(other == found[0] for other in found)


async def test_the_last_verdicts_and_the_last_hour() -> None:
    watching = Watching(scope=Scope(last=2))
    await watching.begin()
    run = await stored_run(watching.store)
    await watching.board.apply([judged(run, 0, 0, 0, offset=0), judged(run, 1, 1, 1, offset=1)])
    await watching.gauges.look()
    assert watching.score(Window.LAST) == 100
    assert watching.score(Window.HOUR) == watching.score() == 50
    watching.clock.seconds += 3601
    await watching.gauges.look()
    assert watching.of(Window.HOUR) == {}
    assert watching.score() == 50


async def test_a_later_run_of_the_same_model_takes_its_place(watching: Watching) -> None:
    first = await stored_run(watching.store)
    second = await stored_run(watching.store, seed=1)
    await watching.board.apply([event_of(first, EventKind.PLAN, 1000)])
    await watching.board.apply([judged(first, 0, 1, 1)])
    await watching.gauges.look()
    assert (watching.score(), watching.told.of(RunStarted)[-1].time) == (100, 1)
    await watching.board.apply([event_of(second, EventKind.PLAN, 2000)])
    await watching.board.apply([judged(second, 0, 0, 0, offset=1)])
    # What still comes of the earlier run counts in the windows alone.
    await watching.board.apply([judged(first, 1, 1, 1, offset=2)])
    await watching.gauges.look()
    assert (watching.score(), watching.told.of(RunStarted)[-1].time) == (0, 2)
    assert watching.score(Window.HOUR) == pytest.approx(200 / 3)


async def test_models_are_bounded_and_the_oldest_goes() -> None:
    watching = Watching(scope=Scope(models=2))
    await watching.begin()
    for place, name in enumerate(("b", "a", "c")):
        run = await stored_run(watching.store, name)
        await watching.board.apply([event_of(run, EventKind.PLAN, 1000 + place)])
        await watching.board.apply([judged(run, 0, 1, 1)])
        await watching.gauges.look()
    assert watching.told.of(ModelForgotten) == [ModelForgotten("b")]
    assert {model for model, _, _ in watching.told.scores} == {"a", "c"}
    old = await stored_run(watching.store, "older")
    await watching.board.apply([event_of(old, EventKind.PLAN, 1)])
    await watching.board.apply([judged(old, 0, 1, 1)])
    await watching.gauges.look()
    assert {model for model, _, _ in watching.told.scores} == {"a", "c"}


async def test_two_teams_may_call_their_checkpoints_alike() -> None:
    """Neither takes the other's place, and the number of series stays bounded."""
    watching = Watching(scope=Scope(models=2))
    await watching.begin()
    for place, team in enumerate(("red", "blue", DEFAULT_TEAM)):
        run = await stored_run(watching.store, seed=place)
        owners = [{"name": "somebody", "team": team}]
        await write_json(watching.store, run_owners(run.spec.run_id), owners=owners)
        await watching.board.apply([event_of(run, EventKind.PLAN, 1000 + place)])
        await watching.board.apply([judged(run, 0, 1, 1, offset=place)])
        await watching.gauges.look()
    started = [(event.model, event.team) for event in watching.told.of(RunStarted)]
    assert started == [("ours", "red"), ("ours", "blue"), ("ours", "")]
    assert watching.told.of(ModelForgotten) == [ModelForgotten("ours", "red")]
    shown = {event.team for event in watching.told.of(ScoresComputed) if event.scores}
    assert shown == {"red", "blue", ""}


async def test_an_aggregator_that_took_over_shows_the_whole_run(watching: Watching) -> None:
    run = await stored_run(watching.store)
    records = [judged(run, 0, 1, 0, offset=1), judged(run, 1, 0, 0, offset=2)]
    await watching.board.apply([event_of(run, EventKind.PLAN, 1000), records[0]])
    await watching.board.snapshot()
    assert watching.told.of(SnapshotSaved)
    later = Watching(watching.store, watching.clock)
    await later.begin()
    await later.gauges.look()
    assert later.of() == await reported(run, records[:1])
    await later.board.apply([records[1]])
    await later.gauges.look()
    assert later.of() == await reported(run, records)


async def test_what_comes_while_a_run_is_counted_counts_once(watching: Watching) -> None:
    run = await stored_run(watching.store)
    records = [judged(run, place, 1, 0, offset=place) for place in range(SAMPLES)]
    await watching.board.apply(records[:1])
    await watching.board.snapshot()
    later = Watching(watching.store, watching.clock)
    await later.begin()
    await later.board.apply(records[1:])
    await later.gauges.look()
    assert later.of() == await reported(run, records)
    assert later.score(Window.HOUR) == 50


async def test_a_store_that_is_away_leaves_the_scores_for_the_next_look() -> None:
    store = MemoryStore()
    watching = Watching(store)
    await watching.begin()
    run = await stored_run(store)
    records = [judged(run, place, 1, 0, offset=place) for place in range(2)]
    await watching.board.apply(records[:1])
    store.away = {"get": "/plan/0"}
    await watching.gauges.look()
    assert watching.of() == {}
    assert watching.warned == ["scores are behind: away"]
    store.away = {}
    await watching.board.apply(records[1:])
    await watching.gauges.look()
    assert watching.of() == await reported(run, records)


async def test_freshness(watching: Watching) -> None:
    run = await stored_run(watching.store)
    await watching.board.apply([judged(run, 0, 1, 0, offset=500)])
    watching.clock.seconds = 2.5
    await watching.gauges.look()
    assert watching.told.of(VerdictVisible) == [VerdictVisible(2.0)]


async def test_applied_records_are_told_without_a_look(watching: Watching) -> None:
    run = await stored_run(watching.store)
    await watching.board.apply([judged(run, 0, 1, 0, offset=500)])
    assert watching.told.of(RecordsApplied) == [RecordsApplied((NOW + 500) / 1000)]


class BrokenScores(RecordedTelemetry):
    """Telemetry with a defect, for a while."""

    broken = True

    def record(self, event: Event) -> None:
        if self.broken and isinstance(event, ScoresComputed):
            raise RuntimeError("defect")
        super().record(event)


async def test_a_defect_of_telemetry_does_not_end_the_aggregator() -> None:
    told = BrokenScores()
    watching = Watching(told=told)
    await watching.begin()
    run = await stored_run(watching.store)
    records = [judged(run, place, 1, 0, offset=place) for place in range(2)]
    await watching.board.apply(records)
    looking = asyncio.create_task(watching.gauges.run())
    await until(lambda: bool(watching.warned))
    assert watching.warned[0] == "scores could not be shown: RuntimeError: defect"
    told.broken = False
    await until(lambda: bool(watching.of()))
    looking.cancel()
    assert watching.of() == await reported(run, records)


async def test_more_than_may_wait_is_counted_from_the_ledger() -> None:
    samples = 11
    watching = Watching(most_changes=samples - 1)
    await watching.begin()
    spec = runs.spec(name="ours")
    kept = run_store(watching.store, spec.run_id)
    await kept.put("spec.json", canonical_json(spec.to_json()))
    found = {"captionqa": runs.sources(runs.choice_rows(samples, 1), {})}
    run = await runs.planned(spec, found, kept)
    records = [told(run, place, [verdict(place, place % 2)], place) for place in range(samples)]
    await watching.board.apply(records)
    await watching.gauges.look()
    assert watching.told.questions["ours", "captionqa"]["scored"] == samples
    assert watching.of() == await reported(run, records)


async def test_a_plan_is_at_hand_for_as_long_as_something_is_heard(watching: Watching) -> None:
    run = await stored_run(watching.store)
    await watching.board.apply([judged(run, 0, 1, 0)])
    await watching.gauges.look()
    objects = watching.store.objects
    shards = {key: objects.pop(key) for key in [*objects] if "/plan/" in key}
    await watching.board.apply([judged(run, 1, 1, 0, offset=1)])
    await watching.gauges.look()
    assert (watching.warned, watching.told.questions["ours", "captionqa"]["scored"]) == ([], 4)
    await watching.gauges.look()
    await watching.board.apply([judged(run, 2, 1, 0, offset=2)])
    await watching.gauges.look()
    # After a look at nothing it was let go of, and has to be read anew.
    assert len(watching.warned) == 1
    objects |= shards
    await watching.gauges.look()
    assert watching.told.questions["ours", "captionqa"]["scored"] == 6
