"""Examining where nouns or embeddings fail: only what rests on them has no score."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.examiner_jobs import SCENE_PACK, a_scene
from tests.fakes.models import CountingEmbedder, CountingTagger, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.errors import (
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    ModelChanged,
    StoreUnavailable,
)
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Reason, Scored, Unscored
from caliper.core.question import Vector
from caliper.core.run import RunSpec
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models


class FailingEmbedder(CountingEmbedder):
    def __init__(self, word: str, error: Exception) -> None:
        super().__init__()
        self.word, self.error = word, error

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.word in texts:
            raise self.error
        return await super().embed(texts)


class FailingTagger(CountingTagger):
    def nouns(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        raise ValueError("a defect")


async def two_scenes() -> tuple[RunSpec, ExamineJob]:
    """A job about a dog and a cat, of which the caption mentions the dog."""
    spec, job = await a_scene()
    (dog,) = job.items
    (row,) = runs.scene_graph_rows()
    (info,) = row.fields["info"]
    fields = {**row.fields, "info": [{**info, "category": "cat"}]}
    found = {"comprecap": runs.sources([replace(row, fields=fields)], {})}
    (cat,) = (await runs.planned(spec, found, MemoryStore())).items
    return spec, replace(job, items=(replace(cat, first=dog.size), dog))


def examiner(
    spec: RunSpec,
    embedder: CountingEmbedder,
    store: MemoryStore | None = None,
    tagger: CountingTagger | None = None,
) -> tuple[Examiner, ScriptedModel]:
    judge = ScriptedModel(lambda text, before: "5")
    answerers = {"comprecap/judge": PromptingAnswerer(judge, SCENE_PACK)}
    return Examiner(spec, Models(answerers, tagger or CountingTagger(), embedder), store), judge


TROUBLE = [
    (BackendUnavailable("reset"), Reason.BACKEND),
    (BackendTimeout("late"), Reason.TIMEOUT),
    (ValueError("a defect"), Reason.INTERNAL),
]


@pytest.mark.parametrize(("error", "reason"), TROUBLE)
async def test_the_last_try_keeps_what_needed_no_lost_embedding(
    error: Exception, reason: Reason
) -> None:
    spec, job = await two_scenes()
    examining, judge = examiner(spec, FailingEmbedder("cat", error))
    found, trouble = await examining.conclude(job)
    assert trouble is error
    outcomes = {verdict.index: verdict.outcome for verdict in found.verdicts}
    size = job.items[1].size
    assert set(outcomes) == set(range(2 * size))
    assert all(isinstance(outcomes[index], Scored) for index in range(size))
    assert {outcomes[index] for index in range(size, 2 * size)} == {Unscored(reason)}
    assert str(error) in found.verdicts[0].evidence.explanation
    # The judge is asked about all but the objects.
    assert len(judge.calls) == size - 1


@pytest.mark.parametrize(("error", "reason"), TROUBLE)
async def test_while_tries_are_left_the_replies_are_kept_for_the_next(
    error: Exception, reason: Reason
) -> None:
    spec, job = await two_scenes()
    store = MemoryStore()
    examining, judge = examiner(spec, FailingEmbedder("cat", error), store)
    with pytest.raises(type(error)):
        await examining.examine(job)
    asked = len(judge.calls)
    healed, second = examiner(spec, CountingEmbedder(), store)
    found = await healed.examine(job)
    assert all(isinstance(verdict.outcome, Scored) for verdict in found.verdicts)
    # The cat is not mentioned, and the dog was asked about before.
    assert (asked, len(second.calls)) == (job.items[1].size - 1, 0)


async def test_what_an_embedder_refuses_for_good_is_not_tried_again() -> None:
    spec, job = await two_scenes()
    examining, _ = examiner(spec, FailingEmbedder("cat", BackendRejected("401")))
    found = await examining.examine(job)
    assert found.verdicts[0].outcome == Unscored(Reason.BACKEND)
    assert isinstance(found.verdicts[-1].outcome, Scored)


async def test_a_tagger_that_fails_leaves_its_questions_unscored() -> None:
    spec, job = await two_scenes()
    examining, judge = examiner(spec, CountingEmbedder(), tagger=FailingTagger())
    found, trouble = await examining.conclude(job)
    assert isinstance(trouble, ValueError)
    assert {verdict.outcome for verdict in found.verdicts} == {Unscored(Reason.INTERNAL)}
    assert judge.calls == []


@pytest.mark.parametrize("error", [ModelChanged("another"), StoreUnavailable("gone")])
async def test_failures_of_the_whole_run_propagate(error: Exception) -> None:
    spec, job = await two_scenes()
    examining, _ = examiner(spec, FailingEmbedder("cat", error))
    with pytest.raises(type(error)):
        await examining.conclude(job)
