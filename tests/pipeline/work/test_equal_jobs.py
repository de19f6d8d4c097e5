"""Two deliveries of one job, or equal jobs of two runs, worked on by one process at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.captionqa_stages import Pictures
from tests.fakes.examiner_jobs import PACK, a_job, right
from tests.fakes.models import OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.caption import Caption
from caliper.core.errors import BackendUnavailable
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.run import RunSpec
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.memory_limit import LimitedMedia
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.pipeline.work.handlers import CaptionHandler, ExamineHandler
from caliper.pipeline.work.worker import Attempt

CODEC = ProtobufCodec()
QUESTIONS = 5
"""Of one job, each in a call of its own."""


async def ignore(*_: object) -> None:
    return None


async def handled(
    model: ScriptedModel, spec: RunSpec, *jobs: ExamineJob, others: Sequence[RunSpec] = ()
) -> tuple[list[object], int]:
    """What came of jobs of some runs that were handled at once, and how many verdicts were
    published.
    """
    store, stream = MemoryStore(), MemoryStream(logs=(VERDICTS,))
    models = Models({"captionqa/reader": PromptingAnswerer(model, PACK, spec.seed)})
    specs = {each.run_id: each for each in (spec, *others)}

    async def examiner_of(job: ExamineJob) -> Examiner:
        return Examiner(specs[job.run], models, store)

    handler = ExamineHandler(stream, CODEC, examiner_of, ignore)
    attempts = (handler.handle(Attempt(CODEC.write(job))) for job in jobs)
    results = await asyncio.gather(*attempts, return_exceptions=True)
    return list(results), (await stream.ends(VERDICTS)).get(0, 0)


async def test_a_job_that_is_delivered_twice_is_asked_once() -> None:
    spec, model = runs.spec(), ScriptedModel(right)
    job = await a_job(spec)
    assert await handled(model, spec, job, job) == ([None, None], 2)
    assert len(model.calls) == QUESTIONS


async def test_equal_jobs_of_two_runs_are_asked_once() -> None:
    spec, model = runs.spec(), ScriptedModel(right)
    other = replace(spec, name="the same again")
    job = await a_job(spec)
    assert other.run_id != spec.run_id
    equal = replace(job, run=other.run_id)
    assert await handled(model, spec, job, equal, others=[other]) == ([None, None], 2)
    assert len(model.calls) == QUESTIONS


async def test_equal_jobs_of_replicates_do_not_wait_for_each_other() -> None:
    spec, model = runs.spec(), ScriptedModel(right)
    other = replace(spec, replicate=1)
    job = await a_job(spec)
    await handled(model, spec, job, replace(job, run=other.run_id), others=[other])
    assert model.most_open == len(model.calls) == 2 * QUESTIONS


@pytest.mark.parametrize("name", ["", "the same again"])
async def test_a_sample_that_is_delivered_twice_is_captioned_once(name: str) -> None:
    spec = runs.spec(runs.part(captions=None, models={"captioner": runs.JUDGE}))
    other = replace(spec, name=name or spec.name)
    item = (await a_job(spec)).items[0]
    model = ScriptedModel(lambda text, before: "it is green")
    media = LimitedMedia(Pictures())
    store, specs = MemoryStore(), {each.run_id: each for each in (spec, other)}

    async def captioner_of(job: CaptionJob) -> Captioner:
        return Captioner(specs[job.run], model, OpenPack(), media, store)

    examining = ExamineHandler(MemoryStream(), CODEC, ignore, ignore)

    async def keep(_: CaptionJob, caption: Caption) -> Caption:
        return caption

    handler = CaptionHandler(examining, captioner_of, keep)
    jobs = (CaptionJob(each.run_id, "captionqa", item.sample, (item,)) for each in (spec, other))
    attempts = [handler.handle(Attempt(CODEC.write(job))) for job in jobs]
    assert await asyncio.gather(*attempts) == [None, None]
    assert len(model.calls) == 1


async def test_different_jobs_do_not_wait_for_each_other() -> None:
    spec, model = runs.spec(), ScriptedModel(right)
    job = await a_job(spec)
    await handled(model, spec, job, replace(job, sample="another"))
    assert model.most_open == 2 * QUESTIONS


async def test_a_job_goes_on_when_its_equal_has_failed() -> None:
    spec = runs.spec()
    away = BackendUnavailable("away")
    model = ScriptedModel(lambda text, before: right(text) if before else away)
    job = await a_job(spec)
    (failed, done), published = await handled(model, spec, job, job)
    assert isinstance(failed, BackendUnavailable)
    assert (done, published, len(model.calls)) == (None, 1, 2 * QUESTIONS)
