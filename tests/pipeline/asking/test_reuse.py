"""Replies without a revision stay in their run, and what is taken from other runs is counted."""

from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.examiner_jobs import examined, right
from tests.fakes.golden_keys import Pictures
from tests.fakes.models import OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.errors import BackendUnavailable
from caliper.core.messages import CaptionJob
from caliper.core.outcome import Scored
from caliper.core.report import BenchmarkReport, Coverage, Report, Reuse
from caliper.core.run import Identity, RunSpec
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.memory_limit import LimitedMedia
from caliper.pipeline.asking.reuse import reused_jobs, with_reuse
from caliper.pipeline.store.runs import run_store
from caliper.ports.models import Completion

ASKED = 5
"""Questions of the job of `examined`."""


def model(revision: str = "1") -> ScriptedModel:
    return ScriptedModel(right, revision=revision)


def spec_of(name: str, reader: ScriptedModel, **changes: object) -> RunSpec:
    spec = runs.spec(runs.part(models={"reader": reader.identity}))
    return replace(spec, name=name, **changes)  # type: ignore[arg-type]  # fields of a spec


async def reused(store: MemoryStore, spec: RunSpec) -> tuple[int, int]:
    """Captions and verdicts."""
    part = BenchmarkReport("captionqa", "", (), {}, (), Coverage(ASKED, ASKED))
    report = Report("", "", (part,))
    found = (await with_reuse(report, spec, {}, run_store(store, spec.run_id))).reuse
    return (0, 0) if found is None else (found.captions, found.verdicts)


async def test_without_a_revision_another_run_asks_anew() -> None:
    store = MemoryStore()
    first, second = model(""), model("")
    await examined(first, store, spec_of("step1", first))
    await examined(first, store, spec_of("step1", first))
    assert len(first.calls) == ASKED
    await examined(second, store, spec_of("step2", second))
    assert len(second.calls) == ASKED
    assert await reused(store, spec_of("step2", second)) == (0, 0)


async def test_sharing_can_be_asked_for() -> None:
    store = MemoryStore()
    first, second = model(""), model("")
    await examined(first, store, spec_of("step1", first, share_replies=True))
    spec = spec_of("step2", second, share_replies=True)
    await examined(second, store, spec)
    assert second.calls == []
    assert await reused(store, spec) == (0, ASKED)


async def test_of_several_models_each_must_have_a_revision() -> None:
    store, reader = MemoryStore(), model()
    captioner = Identity("tgi", "vlm", "")
    for name in ("step1", "step2"):
        # Who captioned has no part in what a reader says.
        part = runs.part(models={"reader": reader.identity, "captioner": captioner})
        await examined(reader, store, replace(runs.spec(part), name=name))
    assert len(reader.calls) == ASKED
    for name in ("step1", "step2"):
        part = runs.part(
            models={"reader": reader.identity, "embedder": Identity("triton", "words", "")}
        )
        await examined(reader, store, replace(runs.spec(part), name=name))
    assert len(reader.calls) == 3 * ASKED


async def test_what_a_run_asked_itself_is_not_reused_however_often_it_comes() -> None:
    store, reader = MemoryStore(), model()
    first, second = spec_of("first", reader), spec_of("second", reader)
    for spec in (first, first, second, second):
        await examined(reader, store, spec)
    assert await reused(store, first) == (0, 0)
    assert await reused(store, second) == (0, ASKED)
    assert len(reader.calls) == ASKED


async def test_a_job_that_two_runs_asked_in_part_counts_what_is_the_others() -> None:
    store = MemoryStore()

    def failing(text: str, before: int) -> str | Completion | Exception:
        return BackendUnavailable("away") if "thing 3" in text else right(text, before)

    reader = ScriptedModel(failing)
    with pytest.raises(BackendUnavailable):
        await examined(reader, store, spec_of("first", reader))
    reader.script = right
    second = spec_of("second", reader)
    for _ in range(2):
        await examined(reader, store, second)
    assert await reused(store, second) == (0, ASKED - 1)
    third = spec_of("third", reader)
    await examined(reader, store, third)
    assert await reused(store, third) == (0, ASKED)


async def test_blocks_of_questions_about_one_caption_add_up() -> None:
    store, reader = MemoryStore(), model()
    await examined(reader, store, spec_of("first", reader))
    second = spec_of("second", reader)
    for drawn in ({0, 3}, {1}, {1}, {2, 4}):
        await examined(reader, store, second, drawn=drawn)
    assert await reused(store, second) == (0, ASKED)
    assert len(await reused_jobs(run_store(store, second.run_id))) == 1


async def test_replies_that_an_earlier_commit_kept_are_another_runs() -> None:
    store, reader = MemoryStore(), model()
    await examined(reader, store, spec_of("first", reader))
    (key,) = [key async for key in store.list("jobs/")]
    written = await store.get(key) or b""
    run = f',"run":"{spec_of("first", reader).run_id}"'.encode()
    assert run in written
    await store.put(key, written.replace(run, b""))
    second = spec_of("second", reader)
    verdicts = await examined(reader, store, second)
    assert all(isinstance(verdict.outcome, Scored) for verdict in verdicts.verdicts)
    assert await reused(store, second) == (0, ASKED)


async def captioned(captioner: ScriptedModel, store: MemoryStore, name: str) -> RunSpec:
    models = {"reader": runs.JUDGE, "captioner": captioner.identity}
    spec = replace(runs.spec(runs.part(captions=None, models=models)), name=name)
    found = {"captionqa": runs.sources(runs.choice_rows(1, 1), None)}
    (item,) = (await runs.planned(spec, found, MemoryStore())).items
    job = CaptionJob(spec.run_id, "captionqa", item.sample, (item,))
    media = LimitedMedia(Pictures())
    await Captioner(spec, captioner, OpenPack(), media, store).caption(job)
    return spec


@pytest.mark.parametrize(("revision", "taken"), [("1", 1), ("", 0)])
async def test_captions(revision: str, taken: int) -> None:
    store = MemoryStore()
    captioner = ScriptedModel(lambda text, before: "A park.", revision=revision)
    first = await captioned(captioner, store, "step1")
    for _ in range(2):
        second = await captioned(captioner, store, "step2")
    assert len(captioner.calls) == 2 - taken
    assert await reused(store, first) == (0, 0)
    assert await reused(store, second) == (taken, 0)


async def test_of_how_many_is_told_beside() -> None:
    store = MemoryStore()
    captioner = ScriptedModel(lambda text, before: "A park.")
    await captioned(captioner, store, "step1")
    spec = await captioned(captioner, store, "step2")
    report = Report(
        "", "", (BenchmarkReport("captionqa", "", (), {}, (), Coverage(9, 4, {"x": 2})),)
    )
    texts = {"captionqa": {"a": "A park.", "b": "A road."}}
    found = await with_reuse(report, spec, texts, run_store(store, spec.run_id))
    assert found.reuse == Reuse(1, 2, 0, 6)
