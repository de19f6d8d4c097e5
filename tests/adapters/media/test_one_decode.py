"""A sample's caption and its questions from the media come from one decode."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PIL import Image
from tests.fakes import runs
from tests.fakes.models import OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import MediaFolder
from caliper.core.messages import CaptionJob
from caliper.core.preparation import Preparation
from caliper.core.question import Source
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.memory_limit import LimitedMedia
from caliper.pipeline.planning.publisher import jobs

Result = TypeVar("Result")


class CountingDecoders(Decoders):
    decoded = 0

    async def run(self, work: Callable[[], Result]) -> Result:
        self.decoded += 1
        return await super().run(work)


async def test_a_caption_and_the_answers_share_a_decode(tmp_path: Path) -> None:
    for name, colour in (("0.jpg", "red"), ("1.jpg", "blue")):
        Image.new("RGB", (400, 300), colour).save(tmp_path / name)
    model = ScriptedModel(lambda text, before: "A")
    models = {"reader": runs.JUDGE, "captioner": model.identity, "media": model.identity}
    preparation = Preparation(longest=200)
    spec = runs.spec(runs.part(captions=None, models=models))
    found = {"captionqa": runs.sources(runs.choice_rows(2, 2), None)}
    items = (await runs.planned(spec, found, MemoryStore())).items
    decoders = CountingDecoders()
    media = LimitedMedia(MediaFolder(tmp_path, decoders, preparation))
    captioner, answerer = (
        Captioner(spec, model, pack, media, MemoryStore())
        for pack in (OpenPack(), OpenPack("question", "options"))
    )
    work = []
    for members in jobs(items):
        job = CaptionJob(spec.run_id, "captionqa", members[0].sample, members)
        from_media = members[0].source is Source.MEDIA
        work.append(answerer.answer(job) if from_media else captioner.caption(job))
    # Two captions, and two questions about each of the two pictures.
    assert len(work) == 4
    for asked in work:
        await asked
    assert len(model.calls) == 6
    assert decoders.decoded == 2
    assert len({call.images for call in model.calls}) == 2
    await decoders.close()
