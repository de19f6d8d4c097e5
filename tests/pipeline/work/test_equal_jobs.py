"""Two deliveries of one job, worked on by one process at once."""

import asyncio
from dataclasses import replace

from tests.fakes import runs
from tests.fakes.examining import PACK, a_job, right
from tests.fakes.models import ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.errors import BackendUnavailable
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.run import RunSpec
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.pipeline.work.handlers import ExamineHandler
from caliper.pipeline.work.worker import Attempt

CODEC = ProtobufCodec()
QUESTIONS = 5
"""Of one job, each in a call of its own."""


async def handled(
    model: ScriptedModel, spec: RunSpec, *jobs: ExamineJob
) -> tuple[list[object], int]:
    """What came of jobs that were handled at once, and how many verdicts were published."""
    store, stream = MemoryStore(), MemoryStream(logs=(VERDICTS,))
    models = Models({"captionqa/reader": PromptingAnswerer(model, PACK, spec.seed)})

    async def examiner_of(_: ExamineJob) -> Examiner:
        return Examiner(spec, models, store)

    async def record_usage(_: ExamineJob | CaptionJob) -> None:
        return None

    handler = ExamineHandler(stream, CODEC, examiner_of, record_usage)
    attempts = (handler.handle(Attempt(CODEC.write(job))) for job in jobs)
    results = await asyncio.gather(*attempts, return_exceptions=True)
    return list(results), (await stream.ends(VERDICTS)).get(0, 0)


async def test_a_job_that_is_delivered_twice_is_asked_once() -> None:
    spec, model = runs.spec(), ScriptedModel(right)
    job = await a_job(spec)
    assert await handled(model, spec, job, job) == ([None, None], 2)
    assert len(model.calls) == QUESTIONS


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
