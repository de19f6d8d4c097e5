"""What services are made of: a stage publishes no verdict before the judge check beside it."""

import asyncio
from dataclasses import replace

from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.examiner_jobs import PACK, a_job, right
from tests.fakes.models import HeldModel
from tests.fakes.stores import MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.envelopes import Message
from caliper.pipeline.planning.publisher import QA_JOBS, VERDICTS
from caliper.pipeline.reports.judge_check import read_judgements
from caliper.pipeline.store.runs import SPEC, run_store, write_json
from caliper.wiring.grounds import Ground
from caliper.wiring.roles import RoleModels
from caliper.wiring.service_settings import QaReaderSettings
from caliper.wiring.services import answerer_parts


def about_the_run(text: str) -> bool:
    """Whether a request is about the run's own question, and not about an anchor."""
    return "thing" in text and "green" in text


def script(text: str, before: int) -> str:
    return right(text) if about_the_run(text) else "A"


async def test_verdicts_are_published_after_the_anchors_were_judged() -> None:
    model = HeldModel(script, held=lambda text: not about_the_run(text))
    store, stream, codec = MemoryStore(), MemoryStream(), IdentityCodec()
    part = runs.part(models={"reader": model.identity})
    spec = replace(runs.spec(part), pack=PACK.digest)
    await write_json(run_store(store, spec.run_id), SPEC, **spec.to_json())
    ground = Ground(store, stream, stream, codec, FakeClock())
    parts = answerer_parts(RoleModels("reader", model, PACK), QaReaderSettings(), ground)
    await stream.publish(Message(QA_JOBS, "job", codec.write(await a_job(spec))))
    told = asyncio.ensure_future(stream.consumer(VERDICTS, "test").receive())
    running = asyncio.ensure_future(parts.workers[0].run())
    # Nothing but the anchors is waited for: no clock, no thread, no connection.
    for _ in range(1000):
        await asyncio.sleep(0)
    assert set(map(about_the_run, model.texts)) == {True}
    assert not told.done()
    model.free.set()
    await told
    assert (await read_judgements(run_store(store, spec.run_id), spec)).keys() == {"captionqa"}
    parts.workers[0].stop()
    await running
