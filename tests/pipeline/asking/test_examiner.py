import json
from collections import Counter
from dataclasses import replace

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
from tests.fakes.models import CountingTagger, OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
    ModelChanged,
    StoreFull,
    StoreUnavailable,
)
from caliper.core.keys import sampling_seed
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Reason, Unscored
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.failure_verdicts import failure_verdicts
from caliper.ports.prompts import Template


async def test_every_question_is_asked_and_its_verdict_comes_in_order() -> None:
    model = ScriptedModel(right)
    found = await examined(model, MemoryStore())
    assert outcomes(found) == [RIGHT] * 5
    assert [verdict.index for verdict in found.verdicts] == list(range(5))
    assert (found.benchmark, found.sample) == ("captionqa", "nat_000")
    assert sorted(map(about, model.texts)) == list(range(5))
    assert model.most_open == 5


async def two_items(*places: int) -> ExamineJob:
    """A job over the samples in these places, of three questions each."""
    rows = {"captionqa": runs.sources(runs.choice_rows(2, 3), {})}
    planned = await runs.planned(runs.spec(), rows, MemoryStore())
    job = await a_job(runs.spec())
    return replace(job, items=tuple(planned.items[place] for place in places))


def examiner(model: ScriptedModel, pack: OpenPack = PACK) -> Examiner:
    models = Models({"captionqa/reader": PromptingAnswerer(model, pack)})
    return Examiner(runs.spec(), models, MemoryStore())


async def test_the_items_of_a_job_are_asked_at_once_and_told_in_order() -> None:
    model = ScriptedModel(right)
    found = await examiner(model).examine(await two_items(1, 0))
    assert model.most_open == 6
    assert [verdict.index for verdict in found.verdicts] == [3, 4, 5, 0, 1, 2]


async def test_the_same_ask_of_two_items_is_asked_once() -> None:
    model = ScriptedModel(failing(BackendRejected("no"), 1))
    found = await examiner(model).examine(await two_items(0, 0))
    refused = Unscored(Reason.BACKEND)
    assert outcomes(found) == [RIGHT, refused, RIGHT] * 2
    # Only replies are kept: what was refused is asked again.
    assert Counter(map(about, model.texts)) == {0: 1, 1: 2, 2: 1}


async def test_every_ask_is_rendered_once() -> None:
    class Counting(OpenPack):
        rendered = 0

        def template(self, name: str) -> Template:
            self.rendered += 1
            return super().template(name)

    pack = Counting("caption", "question", "options")
    await examined(ScriptedModel(right), MemoryStore(), pack=pack)
    assert pack.rendered == 5


async def test_the_settings_and_the_seed_reach_the_model() -> None:
    model = ScriptedModel(right)
    spec = replace(with_settings(max_tokens="64"), seed=100)
    await examined(model, MemoryStore(), spec)
    assert {(call.decoding.max_tokens, call.decoding.seed) for call in model.calls} == {(64, 100)}


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


async def test_a_failure_of_the_whole_run_leaves_no_call_of_another_item_behind() -> None:
    model = ScriptedModel(failing(ModelChanged("another"), 0))
    with pytest.raises(ModelChanged):
        await examiner(model).examine(await two_items(0, 1))
    assert (len(model.calls), model.open) == (6, 0)


async def test_what_cannot_be_read_is_asked_once_more() -> None:
    def at_second(text: str, before: int) -> str:
        return "well ..." if before == 0 else right(text)

    store, model = MemoryStore(), ScriptedModel(at_second)
    assert outcomes(await examined(model, store)) == [RIGHT] * 5
    assert Counter(call.decoding.seed for call in model.calls) == {0: 5, sampling_seed(0, 0, 1): 5}
    await examined(model, store)
    assert len(model.calls) == 10


async def test_what_stays_unreadable_is_unscored_and_not_asked_a_third_time() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "well ...")
    for _ in range(2):
        assert outcomes(await examined(model, store)) == [Unscored(Reason.UNREADABLE)] * 5
    assert len(model.calls) == 10


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
    found = failure_verdicts(job, BackendTimeout("late"))
    assert outcomes(found) == [Unscored(Reason.TIMEOUT)] * 10
    assert [verdict.index for verdict in found.verdicts] == list(range(10))
    assert found.verdicts[0].evidence.explanation == "BackendTimeout: late"
    assert outcomes(failure_verdicts(job, KeyError("x"))) == [Unscored(Reason.INTERNAL)] * 10
    # No outcome is known for this class: a job that is given up must still have one.
    assert outcomes(failure_verdicts(job, StoreFull("x"))) == [Unscored(Reason.INTERNAL)] * 10


async def test_a_language_port_that_nobody_gave_is_told() -> None:
    spec, job = await a_scene()
    model = ScriptedModel(lambda text, before: "5")
    answerers = {"comprecap/judge": PromptingAnswerer(model, SCENE_PACK)}
    with pytest.raises(InvalidInput, match="noun tagger"):
        await Examiner(spec, Models(answerers)).examine(job)
    with pytest.raises(InvalidInput, match="embedder"):
        await Examiner(spec, Models(answerers, CountingTagger())).examine(job)
