import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.models import HeldModel, ScriptedModel
from tests.fakes.stores import MemoryStore
from tests.fakes.telemetry import RecordedTelemetry

from caliper.adapters.models.replay import ReplayAnswerer
from caliper.adapters.packs.files import shipped_pack
from caliper.benchmarks.settings import resolve_settings
from caliper.core.errors import BackendTimeout, ModelChanged, StoreFull
from caliper.core.messages import ExamineJob
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.core.terms import Terms
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.reports.judge_check import AnchorJudgements, read_judgements
from caliper.pipeline.store.runs import note_start, run_store
from caliper.ports.telemetry import SILENT, AnchorsJudged
from caliper.wiring.anchors import anchors_of, judge_anchors
from caliper.wiring.run_anchors import RunAnchors

PACK = shipped_pack()
PART = BenchmarkSpec("captionqa", "", None, resolve_settings("captionqa", {}), {})
SPEC = RunSpec("checkpoint", "1", PACK.digest, (PART,))
ANCHORS = len(anchors_of("captionqa", PART.settings))


def answering(model: ScriptedModel, seed: int = 0) -> Models:
    return Models({"captionqa/reader": PromptingAnswerer(model, PACK, seed)})


def job(spec: RunSpec) -> ExamineJob:
    return ExamineJob(spec.run_id, "captionqa", "sample", None, ())


async def kept(store: MemoryStore, spec: RunSpec) -> AnchorJudgements:
    return await read_judgements(run_store(store, spec.run_id), spec)


async def sit(model: ScriptedModel, met: Iterable[RunSpec]) -> RecordedTelemetry:
    """Meet jobs of these runs, one after the other."""
    telemetry = RecordedTelemetry()
    standing = RunAnchors(MemoryStore(), telemetry, PATIENCE)
    for spec in met:
        standing.start_judgement(spec, "captionqa", answering(model))
        await standing.wait_for_judgement(job(spec))
    return telemetry


async def test_each_run_has_one_judgement_however_many_jobs_it_has() -> None:
    model = ScriptedModel(lambda text, before: "A")
    other = replace(SPEC, replicate=1)
    telemetry = await sit(model, [SPEC, SPEC, other, SPEC, other])
    assert len(model.calls) == 2 * ANCHORS
    judged = telemetry.of(AnchorsJudged)
    assert [(one.judge, one.benchmark) for one in judged] == [("scripted", "captionqa")] * 2
    assert 0 < judged[0].agreement < 1


@pytest.mark.parametrize("error", [ModelChanged("another"), BackendTimeout("silent")])
async def test_trouble_tells_nothing_and_the_next_run_is_judged(error: Exception) -> None:
    def troubled(text: str, before: int) -> str | Exception:
        return error if before == 0 else "A"

    telemetry = await sit(ScriptedModel(troubled), [SPEC, replace(SPEC, replicate=1)])
    assert len(telemetry.of(AnchorsJudged)) == 1


async def test_few_verdicts_tell_nothing_of_a_judge() -> None:
    asked = 0

    def mostly_silent(text: str, before: int) -> str | Exception:
        nonlocal asked
        asked += 1
        return BackendTimeout("silent") if 3 < asked <= ANCHORS else "A"

    model = ScriptedModel(mostly_silent)
    telemetry = await sit(model, [SPEC, replace(SPEC, replicate=1)])
    # The first judgement had three verdicts, the second all.
    assert len(model.calls) == 2 * ANCHORS
    assert len(telemetry.of(AnchorsJudged)) == 1


async def test_a_judgement_is_that_of_a_local_run() -> None:
    spec, store = replace(SPEC, seed=7, replicate=1), MemoryStore()
    here, there = (ScriptedModel(lambda text, before: "A") for _ in range(2))
    # As local.setup has it.
    expected = await judge_anchors(spec, answering(here, spec.sampling_seed), "captionqa")
    standing = RunAnchors(store, SILENT, PATIENCE)
    standing.start_judgement(spec, "captionqa", answering(there, spec.sampling_seed))
    await standing.wait_for_judgement(job(spec))
    assert await kept(store, spec) == {"captionqa": expected}
    assert {call.decoding.seed for call in there.calls} == {
        call.decoding.seed for call in here.calls
    }


async def test_a_job_met_in_another_process_leaves_what_is_kept() -> None:
    store = MemoryStore()
    first, later = (ScriptedModel(lambda text, before, reply=reply: reply) for reply in "AB")
    told = []
    for model in (first, later):
        standing = RunAnchors(store, SILENT, PATIENCE)
        standing.start_judgement(SPEC, "captionqa", answering(model))
        await standing.wait_for_judgement(job(SPEC))
        told.append(dict(store.objects))
    assert len(later.calls) == ANCHORS
    assert told[0] == told[1] != {}


async def test_a_judgement_that_was_not_stored_is_repeated() -> None:
    model, store = ScriptedModel(lambda text, before: "A"), MemoryStore()
    standing = RunAnchors(store, SILENT, PATIENCE)
    store.full = True
    standing.start_judgement(SPEC, "captionqa", answering(model))
    with pytest.raises(StoreFull):
        await standing.wait_for_judgement(job(SPEC))
    store.full = False
    standing.start_judgement(SPEC, "captionqa", answering(model))
    await standing.wait_for_judgement(job(SPEC))
    assert len(model.calls) == 2 * ANCHORS
    assert (await kept(store, SPEC)).keys() == {"captionqa"}


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("capped", [Terms(calls=7), Terms(tokens=7)])
async def test_a_start_with_a_cap_has_no_judgement_unless_one_is_asked_for(capped: Terms) -> None:
    for choice, caps, judgements in (
        (None, [capped, capped], 0),
        (None, [capped, Terms()], 1),
        (None, [Terms(), capped], 1),
        (True, [capped, capped], 1),
        (False, [Terms(), capped], 0),
    ):
        model, store = ScriptedModel(lambda text, before: "A"), MemoryStore()
        standing = RunAnchors(store, SILENT, PATIENCE, choice=choice)
        for each in caps:
            await note_start(run_store(store, SPEC.run_id), each, NOON)
            standing.start_judgement(SPEC, "captionqa", answering(model))
            await standing.wait_for_judgement(job(SPEC))
        assert len(model.calls) == judgements * ANCHORS, (choice, caps)


async def test_recorded_replies_hold_none_to_the_anchors() -> None:
    store, recorded = MemoryStore(), ReplayAnswerer({})
    standing = RunAnchors(store, SILENT, PATIENCE)
    standing.start_judgement(SPEC, "captionqa", Models({"captionqa/reader": recorded}))
    await standing.wait_for_judgement(job(SPEC))
    assert store.objects == {}


async def test_a_judgement_is_broken_off_when_the_service_ends() -> None:
    model, store = ScriptedModel(lambda text, before: "A"), MemoryStore()
    standing = RunAnchors(store, SILENT, PATIENCE)
    standing.start_judgement(SPEC, "captionqa", answering(model))
    await standing.close()
    assert store.objects == {}
    # Nobody waits for what does not come.
    await standing.wait_for_judgement(job(SPEC))


async def test_an_endpoint_that_hangs_holds_no_verdict_up_for_ever() -> None:
    model, store = HeldModel(lambda text, before: "A", held=lambda _: True), MemoryStore()
    standing = RunAnchors(store, SILENT, patience=0)
    standing.start_judgement(SPEC, "captionqa", answering(model))
    async with asyncio.timeout(PATIENCE):
        await standing.wait_for_judgement(job(SPEC))
    assert store.objects == {}
    # What comes of it yet is kept all the same.
    model.free.set()
    # It needs no clock, no thread and no connection.
    for _ in range(1000):
        await asyncio.sleep(0)
    assert (await kept(store, SPEC)).keys() == {"captionqa"}


async def test_a_job_without_a_judgement_waits_for_none() -> None:
    await RunAnchors(MemoryStore(), SILENT, PATIENCE).wait_for_judgement(job(SPEC))
