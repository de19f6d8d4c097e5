"""A function of another package that fails on one run's caption: that run fails, no other."""

from dataclasses import replace

from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.examiner_jobs import PACK, a_job, right
from tests.fakes.models import ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.adapters.models.plugin_endpoint import PluginEndpoint
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.envelopes import Message
from caliper.core.errors import CaliperError, FunctionFailed
from caliper.core.messages import ExamineJob
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.planning.publisher import JUDGE_JOBS, VERDICTS
from caliper.pipeline.work.handlers import ExamineHandler
from caliper.pipeline.work.worker import Worker, WorkerLimits

CODEC = ProtobufCodec()
ODD = "a thing in a hat"


async def test_a_plug_in_that_fails_ends_no_worker() -> None:
    odd, other = runs.spec(), replace(runs.spec(), name="other")
    specs = {each.run_id: each for each in (odd, other)}

    def script(text: str, before: int) -> str | Exception:
        return KeyError("choices") if ODD in text else right(text, before)

    model = PluginEndpoint(ScriptedModel(script), "plug-in", 30.0)
    models = Models({"captionqa/reader": PromptingAnswerer(model, PACK, odd.seed)})
    store, stream = MemoryStore(), MemoryStream(logs=(VERDICTS,))
    failed: list[tuple[str, type[CaliperError]]] = []

    async def examiner_of(job: ExamineJob) -> Examiner:
        return Examiner(specs[job.run], models, store)

    async def nothing(_: object) -> None:
        return None

    async def fail(run: str, error: CaliperError) -> None:
        failed.append((run, type(error)))

    handler = ExamineHandler(stream, CODEC, examiner_of, nothing, on_run_failure=fail)
    for job in (await a_job(odd, text=ODD), await a_job(other)):
        await stream.publish(Message(JUDGE_JOBS, f"{job.run}/a", CODEC.write(job)))
    await stream.close_topic(JUDGE_JOBS)
    consumer = stream.consumer(JUDGE_JOBS, JUDGE_JOBS)
    limits = WorkerLimits(in_flight=2, pause=1.0)
    await Worker(consumer, handler.handle, handler.give_up, FakeClock(), limits).run()
    assert failed == [(odd.run_id, FunctionFailed)]
    assert (await stream.ends(VERDICTS)).get(0, 0) == 1
