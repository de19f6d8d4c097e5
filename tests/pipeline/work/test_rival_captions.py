"""One sample, two workers with a model that says it differently each time: one caption is judged.

A worker whose partition moves while it waits for its model goes on beside the next one.
"""

import asyncio

from tests.fakes import runs
from tests.fakes.captionqa_stages import Pictures
from tests.fakes.examiner_jobs import a_job
from tests.fakes.models import OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.caption import Caption
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.memory_limit import LimitedMedia
from caliper.pipeline.planning.publisher import QA_JOBS
from caliper.pipeline.store.supplies import read_caption, save_caption
from caliper.pipeline.work.handlers import CaptionHandler, ExamineHandler
from caliper.pipeline.work.worker import Attempt

CODEC = ProtobufCodec()
TEXTS = ("a red car", "a car that is red")


async def nothing(_: object) -> None:
    return None


async def test_rivals_have_the_same_caption_judged() -> None:
    spec = runs.spec(runs.part(captions=None, models={"captioner": runs.JUDGE}))
    item = (await a_job(spec)).items[0]
    data = CODEC.write(CaptionJob(spec.run_id, "captionqa", item.sample, (item,)))
    store, stream, both = MemoryStore(), MemoryStream(), asyncio.Barrier(len(TEXTS))

    async def work(text: str) -> None:
        model = ScriptedModel(lambda _, __: text)

        async def captioner_of(_: CaptionJob) -> Captioner:
            return Captioner(spec, model, OpenPack(), LimitedMedia(Pictures()), store)

        async def keep(job: CaptionJob, caption: Caption) -> Caption:
            # Neither has stored its caption when the other one looks for replies.
            await both.wait()
            return await save_caption(store, job.run, job.benchmark, caption)

        async def examiner_of(_: ExamineJob) -> None:
            return None

        examining = ExamineHandler(stream, CODEC, examiner_of, nothing)
        await CaptionHandler(examining, captioner_of, keep).handle(Attempt(data))

    await asyncio.gather(*map(work, TEXTS))
    consumer, judged = stream.consumer(QA_JOBS, QA_JOBS), []
    for _ in TEXTS:
        delivery = await consumer.receive()
        assert delivery is not None
        judged.append(CODEC.read_examine_job(delivery.message.value).caption)
    kept = await read_caption(store, spec.run_id, "captionqa", item.sample)
    assert kept in TEXTS
    assert [each and each.text for each in judged] == [kept, kept]
