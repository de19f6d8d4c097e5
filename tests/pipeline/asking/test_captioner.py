from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.models import OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.caption import CAPTION_TOKENS, Caption
from caliper.core.errors import BackendTimeout, MediaMissing, NewerSchema
from caliper.core.messages import CaptionJob, Verdicts
from caliper.core.outcome import Reason, Scored, Unscored
from caliper.core.preparation import Preparation
from caliper.core.question import Failure, Source
from caliper.core.run import RunSpec
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.memory_limit import LimitedMedia
from caliper.ports.models import Completion, Image

SPEC = runs.spec(runs.part(captions=None, models={"reader": runs.JUDGE, "captioner": runs.JUDGE}))
BEFORE = replace(SPEC, benchmarks=(replace(SPEC.benchmarks[0], settings={}),))
"""A run from before blank captions were answers."""


class Pictures:
    """ports.media.Media: a picture is its path."""

    async def images(self, paths: Sequence[str]) -> list[Image]:
        if "1.jpg" in paths:
            raise MediaMissing("1.jpg is not there")
        return [Image(path.encode(), "image/jpeg") for path in paths]


async def captioned(
    model: ScriptedModel,
    store: MemoryStore,
    spec: RunSpec = SPEC,
    place: int = 0,
    pack: OpenPack | None = None,
) -> Caption | Failure:
    found = {"captionqa": runs.sources(runs.choice_rows(2, 1), None)}
    item = (await runs.planned(spec, found, MemoryStore())).items[place]
    job = CaptionJob(spec.run_id, "captionqa", item.sample, (item,))
    media = LimitedMedia(Pictures())
    return await Captioner(spec, model, pack or OpenPack(), media, store).caption(job)


async def answered(
    model: ScriptedModel, store: MemoryStore, place: int = 0, preparation: Preparation | None = None
) -> Verdicts:
    """Both questions of a picture, put to the checkpoint itself, which has no trouble."""
    verdicts, trouble = await concluded(model, store, place, preparation)
    assert trouble is None
    return verdicts


async def concluded(
    model: ScriptedModel, store: MemoryStore, place: int = 0, preparation: Preparation | None = None
) -> tuple[Verdicts, Exception | None]:
    models = {"reader": runs.JUDGE, "captioner": model.identity, "media": model.identity}
    part = runs.part(captions=None, models=models)
    spec = runs.spec(replace(part, preparation=preparation))
    found = {"captionqa": runs.sources(runs.choice_rows(2, 2), None)}
    items = (await runs.planned(spec, found, MemoryStore())).items
    item = [item for item in items if item.source is Source.MEDIA][place]
    job = CaptionJob(spec.run_id, "captionqa", item.sample, (item,))
    pack = OpenPack("question", "options")
    captioner = Captioner(spec, model, pack, LimitedMedia(Pictures()), store)
    return await captioner.answer(job)


async def test_questions_are_put_with_the_picture_and_once() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "A")
    verdicts = await answered(model, store)
    assert await answered(model, store) == verdicts
    assert [type(verdict.outcome) for verdict in verdicts.verdicts] == [Scored, Scored]
    assert len(model.calls) == 2
    for call in model.calls:
        assert call.text.startswith("captionqa/reader_on_image")
        assert call.images == (Image(b"0.jpg", "image/jpeg"),)


async def test_another_preparation_asks_the_questions_again() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "A")
    for preparation in (Preparation(), Preparation(longest=512), Preparation()):
        await answered(model, store, preparation=preparation)
    assert len(model.calls) == 4


async def test_questions_about_a_picture_that_is_not_there() -> None:
    model = ScriptedModel(lambda text, before: "A")
    with pytest.raises(MediaMissing):
        await answered(model, MemoryStore(), place=1)
    assert model.calls == []


async def test_a_refusal_is_no_wrong_answer() -> None:
    model = ScriptedModel(lambda text, before: Completion("I cannot", "refusal"))
    verdicts = await answered(model, MemoryStore())
    assert [verdict.outcome for verdict in verdicts.verdicts] == [Unscored(Reason.REFUSED)] * 2


async def test_trouble_with_a_question_is_told_beside_the_verdicts() -> None:
    def failing(text: str, before: int) -> str:
        if text == model.texts[0] and not before:
            raise BackendTimeout("slow")
        return "A"

    store, model = MemoryStore(), ScriptedModel(failing)
    verdicts, trouble = await concluded(model, store)
    assert isinstance(trouble, BackendTimeout)
    assert [type(verdict.outcome) for verdict in verdicts.verdicts] == [Unscored, Scored]
    # The good answer was kept.
    await answered(model, store)
    assert len(model.calls) == 3


async def test_a_caption_is_asked_for_once() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "  A cat.\n")
    expected = Caption("nat_000", "A cat.")
    assert await captioned(model, store) == expected
    assert await captioned(model, store) == expected
    (call,) = model.calls
    assert call.decoding.max_tokens == CAPTION_TOKENS == 8192
    assert call.text.startswith("captionqa/caption_simple")


async def test_a_truncated_caption_stays_one() -> None:
    store = MemoryStore()
    model = ScriptedModel(lambda text, before: Completion("A c", "length"))
    for _ in range(2):
        assert await captioned(model, store) == Caption("nat_000", "A c", truncated=True)
    assert len(model.calls) == 1


@pytest.mark.parametrize(
    "spec",
    [
        replace(SPEC, replicate=1),
        replace(SPEC, seed=1),
        replace(SPEC, benchmarks=(replace(SPEC.benchmarks[0], prompt="long"),)),
        replace(SPEC, benchmarks=(replace(SPEC.benchmarks[0], preparation=Preparation(9)),)),
        replace(SPEC, benchmarks=(replace(SPEC.benchmarks[0], caption_tokens=512),)),
    ],
    ids=["replicate", "seed", "prompt", "preparation", "caption_tokens"],
)
async def test_what_changes_a_caption_asks_again(spec: RunSpec) -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "A cat.")
    await captioned(model, store)
    await captioned(model, store, spec)
    assert len(model.calls) == 2
    assert model.calls[1].decoding.seed == spec.sampling_seed
    assert model.calls[1].decoding.max_tokens == spec.benchmarks[0].caption_tokens


async def test_a_taxonomy_of_its_own_is_what_the_prompt_lists() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "A cat.")
    part = replace(SPEC.benchmarks[0], prompt="taxonomy")
    own = {"natural": ("Mood -> {caption}", "Mood -> Calm")}
    for taxonomy in ({}, own, {"document": ("Mood -> Calm",)}):
        spec = replace(SPEC, benchmarks=(replace(part, taxonomy=taxonomy),))
        await captioned(model, store, spec, pack=OpenPack("taxonomy"))
    shipped, listed = (call.text for call in model.calls)
    assert "Attribute -> Color" in shipped
    assert "Mood -> {caption}\nMood -> Calm" in listed
    assert "Color" not in listed


async def test_thoughts_are_no_part_of_a_caption() -> None:
    reply = "<think>A spoon? A helmet?</think>\n\n\u22122 \u00b0C."
    model = ScriptedModel(lambda text, before: reply)
    assert await captioned(model, MemoryStore()) == Caption("nat_000", "\u22122 \u00b0C.")


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (Completion("I cannot help with that", "refusal"), Reason.REFUSED),
        (Completion("x", "tool_calls"), Reason.NO_CAPTION),
        (Completion(" \n"), Reason.NO_CAPTION),
        (Completion("", "length"), Reason.TRUNCATED),
        (Completion("<think>A spoon or a helmet?", "length"), Reason.TRUNCATED),
        (Completion("<think>A spoon or a helmet?</think>\n"), Reason.NO_CAPTION),
    ],
)
async def test_a_completion_without_text_is_a_blank_caption(
    completion: Completion, reason: Reason
) -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: completion)
    for _ in range(2):
        blank = Caption("nat_000", "", truncated=completion.finish == "length")
        assert await captioned(model, store) == blank
    assert len(model.calls) == 1
    # A run that leaves blank captions unscored asks, and keeps nothing.
    kept = dict(store.objects)
    for count in (2, 3):
        found = await captioned(model, store, BEFORE)
        assert isinstance(found, Failure)
        assert found.reason is reason
        assert len(model.calls) == count
    assert store.objects == kept


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (Completion("The image shows", "content_filter"), Reason.REFUSED),
        (Completion("", "content_filter"), Reason.REFUSED),
        # A server that was only told to load its model, and one that gave no choice.
        (Completion("", "load"), Reason.NO_CAPTION),
        (Completion("", ""), Reason.NO_CAPTION),
    ],
)
async def test_what_the_model_did_not_end_is_no_caption(
    completion: Completion, reason: Reason
) -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: completion)
    found = await captioned(model, store)
    assert isinstance(found, Failure)
    assert found.reason is reason
    assert store.objects == {}


async def test_trouble_is_raised_and_nothing_kept() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: BackendTimeout("late"))
    with pytest.raises(BackendTimeout):
        await captioned(model, store)
    assert store.objects == {}


async def test_without_its_picture_nobody_is_asked() -> None:
    model = ScriptedModel(lambda text, before: "A cat.")
    with pytest.raises(MediaMissing):
        await captioned(model, MemoryStore(), place=1)
    assert model.calls == []


async def test_the_caption_of_a_newer_release_is_refused() -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "A cat.")
    await captioned(model, store)
    (key,) = store.objects
    store.objects[key] = store.objects[key].replace(b'"schema":1', b'"schema":2')
    with pytest.raises(NewerSchema):
        await captioned(model, store)


@pytest.mark.parametrize(
    "broken", [b"", b'{"schema":1,"te', b"[]", b'{"schema":1,"text":null}', b"[" * 10_000]
)
async def test_a_broken_object_is_asked_for_again(broken: bytes) -> None:
    store, model = MemoryStore(), ScriptedModel(lambda text, before: "A cat.")
    await captioned(model, store)
    (key,) = store.objects
    whole, store.objects[key] = store.objects[key], broken
    assert await captioned(model, store) == Caption("nat_000", "A cat.")
    assert store.objects[key] == whole
    assert len(model.calls) == 2
