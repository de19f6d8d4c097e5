import asyncio
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from tests.fakes import runs
from tests.fakes.examiner_jobs import (
    PACK,
    RIGHT,
    SCENE_PACK,
    a_job,
    a_scene,
    about,
    examined,
    failing,
    outcomes,
    right,
    with_settings,
)
from tests.fakes.models import CountingEmbedder, CountingTagger, OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore
from tests.fakes.telemetry import RecordedTelemetry

from caliper.core.errors import BackendUnavailable, NewerSchema, StoreFull
from caliper.core.keys import sampling_seed
from caliper.core.outcome import Reason, Scored, Unscored
from caliper.core.question import Answer, Failure, Reply
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.replies import ReplyBook
from caliper.ports.models import Completion


async def test_a_second_examination_asks_nothing() -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    first = await examined(model, store)
    again = ScriptedModel(failing(BackendUnavailable("down"), *range(5)))
    assert await examined(again, store) == first
    assert again.calls == []
    assert len(store.objects) == 1


async def test_it_is_told_which_replies_were_kept() -> None:
    store, told, spec = MemoryStore(), RecordedTelemetry(), runs.spec()
    answerer = PromptingAnswerer(ScriptedModel(right), PACK, spec.seed)
    examiner = Examiner(spec, Models({"captionqa/reader": answerer}), store, told)
    await examiner.examine(await a_job(spec))
    assert told.replies == {False: 5}
    await examiner.examine(await a_job(spec))
    assert told.replies == {False: 5, True: 5}


async def test_without_a_store_nothing_is_kept() -> None:
    model = ScriptedModel(right)
    await examined(model, None)
    await examined(model, None)
    assert len(model.calls) == 10


async def test_replies_of_models_that_need_no_keeping_are_not_kept() -> None:
    store, model = MemoryStore(), ScriptedModel(right, cached=False)
    await examined(model, store)
    assert store.objects == {}


NOTHING_NEW = {
    "reading": with_settings(reading="released"),
    "overall": with_settings(overall="questions"),
    "name": runs.spec(name="theirs"),
    "floor": runs.spec(coverage_floor=0.5),
    "version": runs.spec(version="9"),
}


ASKED_AGAIN = {
    "max_tokens": with_settings(max_tokens="64"),
    "replicate": runs.spec(replicate=1),
    "seed": runs.spec(seed=1),
    "pack": runs.spec(pack="q" * 64),
}


@pytest.mark.parametrize("change", NOTHING_NEW)
async def test_reading_and_scoring_ask_nothing(change: str) -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    await examined(model, store)
    await examined(model, store, NOTHING_NEW[change])
    assert len(model.calls) == 5


@pytest.mark.parametrize("change", ASKED_AGAIN)
async def test_what_changes_a_reply_asks_again(change: str) -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    await examined(model, store)
    await examined(model, store, ASKED_AGAIN[change])
    assert len(model.calls) == 10
    assert len(store.objects) == 2


async def test_another_caption_asks_again() -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    await examined(model, store)
    await examined(model, store, text="it is red")
    assert len(model.calls) == 10


async def test_another_prompt_asks_again_even_under_the_same_digest() -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    await examined(model, store)
    pack = OpenPack("caption", "question", "options", word="please ")
    pack.digest = PACK.digest
    await examined(model, store, pack=pack)
    assert len(model.calls) == 10


async def test_another_revision_of_the_model_asks_again() -> None:
    store = MemoryStore()
    await examined(ScriptedModel(right), store)
    newer = ScriptedModel(right, revision="2")
    await examined(newer, store, runs.spec(runs.part(models={"reader": newer.identity})))
    assert len(newer.calls) == 5


async def test_repeats_are_asked_with_seeds_of_their_own_and_kept_apart() -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    spec = runs.spec(runs.part(repeats=3), seed=10)
    await examined(model, store, spec)
    drawn = Counter(call.decoding.seed for call in model.calls)
    assert drawn == {sampling_seed(10, repeat, 0): 5 for repeat in range(3)}
    await examined(model, store, spec)
    assert len(model.calls) == 15


NOT_KEPT = {
    "refused": (Completion("I cannot", "refusal"), Reason.REFUSED),
    "filtered": (Completion("", "content_filter"), Reason.REFUSED),
    "empty": (Completion(""), Reason.NO_REPLY),
    "blank": (Completion(" \n"), Reason.NO_REPLY),
    "cut off before it began": (Completion("", "length"), Reason.TRUNCATED),
}


@pytest.mark.parametrize("case", NOT_KEPT)
async def test_refusals_and_empty_replies_are_not_kept(case: str) -> None:
    completion, reason = NOT_KEPT[case]
    store, model = MemoryStore(), ScriptedModel(lambda text, before: completion)
    assert outcomes(await examined(model, store)) == [Unscored(reason)] * 5
    assert store.objects == {}
    model.script = right
    assert outcomes(await examined(model, store)) == [RIGHT] * 5


async def test_a_blank_completion_is_wrong_as_released_and_not_kept() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: Completion(""))
    found = await examined(model, store, NOTHING_NEW["reading"])
    assert outcomes(found) == [Scored(Fraction(0))] * 5
    assert store.objects == {}


@pytest.mark.parametrize("answer", [Reply(""), Reply(" \n"), Failure(Reason.REFUSED)])
def test_a_book_keeps_nothing_that_is_no_reply(answer: Answer) -> None:
    book = ReplyBook("job")
    book.add("key", answer)
    assert (book.reply("key"), book.is_dirty) == (None, False)


async def test_another_reading_reads_the_kept_replies() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "well ...")
    await examined(model, store)
    found = await examined(model, store, NOTHING_NEW["reading"])
    assert outcomes(found) == [Scored(Fraction(0))] * 5
    assert len(model.calls) == 10


async def test_replies_are_saved_when_a_job_is_cancelled() -> None:
    waiting, never = asyncio.Event(), asyncio.Event()

    class Stalling(ScriptedModel):
        async def complete(self, *request: Any, **more: Any) -> Completion:
            completion = await super().complete(*request, **more)
            if len(self.calls) == 5 and about(self.calls[-1].text) == 4:
                waiting.set()
            if about("".join(request[0][-1].content)) == 4:
                await never.wait()
            return completion

    store = MemoryStore()
    job = asyncio.create_task(examined(Stalling(right), store))
    await waiting.wait()
    await asyncio.sleep(0)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    (kept,) = store.objects.values()
    assert len(json.loads(kept)["replies"]) == 4


async def test_a_full_store_stops_the_job() -> None:
    store = MemoryStore()
    store.full = True
    with pytest.raises(StoreFull):
        await examined(ScriptedModel(right), store)


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"schema": 1}', b'{"schema": 1, "replies": []}', b"[" * 10_000]
)
async def test_a_broken_job_object_is_asked_for_again_and_mended(data: bytes) -> None:
    store = MemoryStore()
    await examined(ScriptedModel(right), store)
    ((key, whole),) = store.objects.items()
    store.objects[key] = data
    model = ScriptedModel(right)
    await examined(model, store)
    assert model.calls
    assert store.objects[key] == whole


async def test_a_job_object_of_a_newer_release_is_refused() -> None:
    store = MemoryStore()
    await examined(ScriptedModel(right), store)
    (key,) = store.objects
    store.objects[key] = b'{"schema": 2, "replies": {}}'
    with pytest.raises(NewerSchema, match=key):
        await examined(ScriptedModel(right), store)


async def test_nouns_and_vectors_are_kept_too() -> None:
    spec, job = await a_scene()
    store, tagger, embedder = MemoryStore(), CountingTagger(), CountingEmbedder()
    model = ScriptedModel(lambda text, before: "5")
    models = Models({"comprecap/judge": PromptingAnswerer(model, SCENE_PACK)}, tagger, embedder)
    first = await Examiner(spec, models, store).examine(job)
    asked = (len(model.calls), len(tagger.asked), len(embedder.asked))
    assert asked == (3, 1, 1)
    assert await Examiner(spec, models, store).examine(job) == first
    assert (len(model.calls), len(tagger.asked), len(embedder.asked)) == asked


async def test_rules_are_not_kept() -> None:
    spec, job = await a_scene()
    tagger, embedder = CountingTagger(cached=False), CountingEmbedder(cached=False)
    model = ScriptedModel(lambda text, before: "5", cached=False)
    models = Models({"comprecap/judge": PromptingAnswerer(model, SCENE_PACK)}, tagger, embedder)
    store = MemoryStore()
    await Examiner(spec, models, store).examine(job)
    assert store.objects == {}
