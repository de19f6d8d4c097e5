"""Examining: what is asked, what is kept, and what trouble becomes."""

import asyncio
import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.fakes import runs
from tests.fakes.models import CountingEmbedder, CountingTagger, OpenPack, Script, ScriptedModel
from tests.fakes.stores import MemoryStore
from tests.fakes.telemetry import ToldStage

from caliper.core.caption import Caption
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
    ModelChanged,
    NewerSchema,
    StoreFull,
    StoreUnavailable,
)
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.core.question import Answer, Failure, Reply, Source
from caliper.core.run import RunSpec
from caliper.pipeline.answerer import PromptingAnswerer
from caliper.pipeline.examine import Examiner, Models, give_up
from caliper.pipeline.replies import ReplyBook
from caliper.ports.codec import ExamineJob, Verdicts
from caliper.ports.models import Completion

FIVE = {"captionqa": runs.sources(runs.choice_rows(1, 5), {})}
PACK = OpenPack("caption", "question", "options")
RIGHT = Scored(Fraction(1))


def right(text: str, before: int = 0) -> str:
    """The letter of `green`, which is always right."""
    found = re.search(r"([A-Z])\. green", text)
    assert found
    return found[1]


def about(text: str) -> int:
    """The number of the thing that is asked about."""
    return int(text.split("thing ")[1][0])


def failing(error: Exception, *numbers: int) -> Script:
    """Answers rightly but for these questions."""
    return lambda text, before: error if about(text) in numbers else right(text)


async def a_job(spec: RunSpec, text: str = "it is green", place: int = 0) -> ExamineJob:
    planned = await runs.planned(spec, FIVE, MemoryStore())
    item = planned.items[place]
    caption = Caption(item.sample, text) if item.source is Source.CAPTION else None
    return ExamineJob(spec.run_id, item.benchmark, item.sample, caption, (item,))


async def examined(
    model: ScriptedModel,
    store: MemoryStore | None,
    spec: RunSpec | None = None,
    pack: OpenPack = PACK,
    **options: Any,
) -> Verdicts:
    final = options.pop("final", False)
    spec = spec or runs.spec()
    answerer = PromptingAnswerer(model, pack, spec.seed)
    job = await a_job(spec, **options)
    examiner = Examiner(spec, Models({"captionqa/reader": answerer}), store)
    if not final:
        return await examiner.examine(job)
    verdicts, _ = await examiner.conclude(job)
    return verdicts


def outcomes(verdicts: Verdicts) -> list[Outcome]:
    return [verdict.outcome for verdict in verdicts.verdicts]


async def test_every_question_is_asked_and_its_verdict_comes_in_order() -> None:
    model = ScriptedModel(right)
    found = await examined(model, MemoryStore())
    assert outcomes(found) == [RIGHT] * 5
    assert [verdict.index for verdict in found.verdicts] == list(range(5))
    assert (found.benchmark, found.sample) == ("captionqa", "nat_000")
    assert sorted(map(about, model.texts)) == list(range(5))


async def test_all_questions_are_asked_at_once() -> None:
    most = 0

    def watching(text: str, before: int) -> str:
        nonlocal most
        most = max(most, model.open)
        return right(text)

    model = ScriptedModel(watching)
    await examined(model, MemoryStore())
    assert most == 5


async def test_a_second_examination_asks_nothing() -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    first = await examined(model, store)
    again = ScriptedModel(failing(BackendUnavailable("down"), *range(5)))
    assert await examined(again, store) == first
    assert again.calls == []
    assert len(store.objects) == 1


async def test_it_is_told_which_replies_were_kept() -> None:
    store, told, spec = MemoryStore(), ToldStage(), runs.spec()
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


def with_settings(**settings: str) -> RunSpec:
    part = runs.part()
    return runs.spec(replace(part, settings={**part.settings, **settings}))


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
    await examined(newer, store)
    assert len(newer.calls) == 5


async def test_the_settings_and_the_seed_reach_the_model() -> None:
    model = ScriptedModel(right)
    spec = replace(with_settings(max_tokens="64"), seed=100)
    await examined(model, MemoryStore(), spec)
    assert {(call.decoding.max_tokens, call.decoding.seed) for call in model.calls} == {(64, 100)}


async def test_repeats_are_asked_with_seeds_of_their_own_and_kept_apart() -> None:
    store, model = MemoryStore(), ScriptedModel(right)
    spec = runs.spec(runs.part(repeats=3), seed=10)
    await examined(model, store, spec)
    assert sorted(call.decoding.seed for call in model.calls) == [10] * 5 + [12] * 5 + [14] * 5
    await examined(model, store, spec)
    assert len(model.calls) == 15


TROUBLE = [
    (BackendUnavailable("reset"), Reason.BACKEND),
    (BackendOverloaded("later", 3.0), Reason.BACKEND),
    (BackendTimeout("late"), Reason.TIMEOUT),
    (ValueError("a defect"), Reason.INTERNAL),
]


@pytest.mark.parametrize(("error", "reason"), TROUBLE)
async def test_good_replies_are_kept_when_others_fail(error: Exception, reason: Reason) -> None:
    store, model = MemoryStore(), ScriptedModel(failing(error, 1, 3))
    with pytest.raises(type(error)) as caught:
        await examined(model, store)
    assert caught.value is error
    (kept,) = store.objects.values()
    assert len(json.loads(kept)["replies"]) == 3
    model.script, model.calls = right, []
    assert outcomes(await examined(model, store)) == [RIGHT] * 5
    assert sorted(map(about, model.texts)) == [1, 3]


@pytest.mark.parametrize(("error", "reason"), TROUBLE)
async def test_the_last_try_makes_trouble_unscored(error: Exception, reason: Reason) -> None:
    model = ScriptedModel(failing(error, 1, 3))
    found = await examined(model, MemoryStore(), final=True)
    trouble = Unscored(reason)
    assert outcomes(found) == [RIGHT, trouble, RIGHT, trouble, RIGHT]
    assert str(error) in found.verdicts[1].evidence.explanation


async def test_what_an_endpoint_refuses_for_good_is_not_tried_again() -> None:
    model = ScriptedModel(failing(BackendRejected("401"), 2))
    found = await examined(model, MemoryStore())
    assert outcomes(found)[2] == Unscored(Reason.BACKEND)
    assert len(model.calls) == 5


@pytest.mark.parametrize("error", [ModelChanged("another"), StoreUnavailable("gone")])
@pytest.mark.parametrize("final", [False, True])
async def test_failures_of_the_whole_run_propagate(error: Exception, final: bool) -> None:
    store, model = MemoryStore(), ScriptedModel(failing(error, 0))
    with pytest.raises(type(error)):
        await examined(model, store, final=final)
    assert (len(model.calls), model.open) == (5, 0)
    (kept,) = store.objects.values()
    assert len(json.loads(kept)["replies"]) == 4


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


@pytest.mark.parametrize("answer", [Reply(""), Reply(" \n"), Failure(Reason.REFUSED)])
def test_a_book_keeps_nothing_that_is_no_reply(answer: Answer) -> None:
    book = ReplyBook("job")
    book.keep("key", answer)
    assert (book.reply("key"), book.grown) == (None, False)


async def test_what_cannot_be_read_is_asked_once_more() -> None:
    def at_second(text: str, before: int) -> str:
        return "well ..." if before == 0 else right(text)

    store, model = MemoryStore(), ScriptedModel(at_second)
    assert outcomes(await examined(model, store)) == [RIGHT] * 5
    assert sorted(call.decoding.seed for call in model.calls) == [0] * 5 + [1] * 5
    await examined(model, store)
    assert len(model.calls) == 10


async def test_what_stays_unreadable_is_unscored_and_not_asked_a_third_time() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "well ...")
    for _ in range(2):
        assert outcomes(await examined(model, store)) == [Unscored(Reason.UNREADABLE)] * 5
    assert len(model.calls) == 10


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


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"schema": 1}', b'{"schema": 1, "replies": []}'])
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


async def test_a_sample_without_a_caption_is_not_asked_about() -> None:
    model = ScriptedModel(right)
    spec = runs.spec()
    job = replace(await a_job(spec), caption=None)
    models = Models({"captionqa/reader": PromptingAnswerer(model, PACK)})
    found = await Examiner(spec, models, MemoryStore()).examine(job)
    assert outcomes(found) == [Unscored(Reason.NO_CAPTION)] * 5
    assert model.calls == []


async def test_questions_from_the_media_go_to_another_model() -> None:
    reader, media = ScriptedModel(right), ScriptedModel(right, cached=False)
    spec = runs.spec(runs.part(models={"reader": runs.JUDGE, "media": runs.JUDGE}))
    answerers = {
        "captionqa/reader": PromptingAnswerer(reader, PACK),
        "captionqa/media": PromptingAnswerer(media, PACK),
    }
    job = await a_job(spec, place=1)
    found = await Examiner(spec, Models(answerers), MemoryStore()).examine(job)
    # A judge of captions cannot see: asked about the picture, it would guess.
    assert outcomes(found) == [Unscored(Reason.BAD_INPUT)] * 5
    assert reader.calls == media.calls == []


async def test_a_prompt_that_cannot_be_filled_leaves_no_call_behind() -> None:
    model = ScriptedModel(right)
    found = await examined(model, MemoryStore(), pack=OpenPack("picture"))
    assert outcomes(found) == [Unscored(Reason.BAD_INPUT)] * 5
    assert model.calls == []


async def test_giving_up_concludes_every_question() -> None:
    job = await a_job(runs.spec(runs.part(repeats=2)))
    found = give_up(job, BackendTimeout("late"))
    assert outcomes(found) == [Unscored(Reason.TIMEOUT)] * 10
    assert [verdict.index for verdict in found.verdicts] == list(range(10))
    assert found.verdicts[0].evidence.explanation == "BackendTimeout: late"
    assert outcomes(give_up(job, KeyError("x"))) == [Unscored(Reason.INTERNAL)] * 10
    # No outcome is known for this class: a job that is given up must still have one.
    assert outcomes(give_up(job, StoreFull("x"))) == [Unscored(Reason.INTERNAL)] * 10


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


async def test_a_language_port_that_nobody_gave_is_told() -> None:
    spec, job = await a_scene()
    model = ScriptedModel(lambda text, before: "5")
    answerers = {"comprecap/judge": PromptingAnswerer(model, SCENE_PACK)}
    with pytest.raises(InvalidInput, match="noun tagger"):
        await Examiner(spec, Models(answerers)).examine(job)
    with pytest.raises(InvalidInput, match="embedder"):
        await Examiner(spec, Models(answerers, CountingTagger())).examine(job)


SCENE_PACK = OpenPack("sentence", "phrase")


async def a_scene() -> tuple[RunSpec, ExamineJob]:
    """A picture of a dog, asked about three times."""
    spec = runs.spec(runs.part("comprecap"))
    found = {"comprecap": runs.sources(runs.scene_graph_rows(), {})}
    planned = await runs.planned(spec, found, MemoryStore())
    caption = Caption("park.jpg", "A dog runs.")
    job = ExamineJob(spec.run_id, "comprecap", "park.jpg", caption, tuple(planned.items))
    return spec, job
