"""Captions matched again with what a run kept, and with other taggers."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.examiner_jobs import SCENE_PACK, a_scene
from tests.fakes.models import CountingEmbedder, CountingTagger, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.benchmarks.comprecap.examination import Scene
from caliper.core.messages import ExamineJob
from caliper.core.run import Identity, RunSpec
from caliper.lexical.ngrams import NgramEmbedder
from caliper.lexical.tagger import RuleTagger
from caliper.local.analyses.caption_matching import CaptionMatcher, MatchingPorts
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.ports.models import Embedder, NounTagger

RULES = Identity("lexical", "lexical-rules", "1")
FAKE = "words (fake, 1)"


class OtherTagger(CountingTagger):
    """Knows one more word for the dog."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = replace(self.identity, name="others")

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [(*nouns, "hound") for nouns in super().nouns(texts)]


async def examined(
    tagger: NounTagger, embedder: Embedder
) -> tuple[RunSpec, ExamineJob, MemoryStore]:
    """A judged picture, and the store with what was kept."""
    spec, job = await a_scene()
    identities = {"judge": runs.JUDGE, "tagger": tagger.identity, "embedder": embedder.identity}
    spec = runs.spec(runs.part("comprecap", models=identities))
    job = replace(job, run=spec.run_id)
    answerer = PromptingAnswerer(ScriptedModel(lambda text, before: "5"), SCENE_PACK)
    store = MemoryStore()
    models = Models({"comprecap/judge": answerer}, tagger, embedder)
    await Examiner(spec, models, store).examine(job)
    return spec, job, store


async def matched(
    kept: tuple[RunSpec, ExamineJob, MemoryStore], ports: MatchingPorts
) -> dict[str, Scene]:
    spec, job, store = kept
    assert job.caption is not None
    return await CaptionMatcher(spec, store, ports).scenes(job.items[0], job.caption.text)


async def test_kept_nouns_and_vectors_are_enough() -> None:
    kept = await examined(CountingTagger(), CountingEmbedder())
    found = await matched(kept, MatchingPorts(RULES))
    assert list(found) == [FAKE]
    assert found[FAKE].pieces == ("A dog runs",)
    assert found[FAKE].matches["dog"].micro == 1_000_000


async def test_words_without_vectors_need_the_embedder_of_the_run() -> None:
    kept = await examined(CountingTagger(), CountingEmbedder())
    other, embedder = OtherTagger(), CountingEmbedder()
    assert list(await matched(kept, MatchingPorts(RULES, [other]))) == [FAKE]
    # An embedder of another identity is not used: its vectors cannot be compared.
    assert list(await matched(kept, MatchingPorts(RULES, [other], NgramEmbedder()))) == [FAKE]
    found = await matched(kept, MatchingPorts(RULES, [other], embedder))
    assert list(found) == [FAKE, other.identity.label]
    assert embedder.asked == [("hound",)]


async def test_without_what_was_kept_the_same_tagger_is_needed() -> None:
    spec, job, store = await examined(CountingTagger(), CountingEmbedder())
    lost = (spec, job, MemoryStore())
    assert await matched(lost, MatchingPorts(RULES)) == {}
    ports = MatchingPorts(RULES, [CountingTagger()], CountingEmbedder())
    assert await matched(lost, ports) == await matched((spec, job, store), MatchingPorts(RULES))


async def test_rules_keep_nothing_and_need_nothing() -> None:
    kept = await examined(RuleTagger(), NgramEmbedder())
    found = await matched(kept, MatchingPorts(RULES))
    assert list(found) == [RuleTagger().identity.label]
    # Rules of another revision are not those of the run.
    spec, job, store = kept
    part = spec.benchmark("comprecap")
    older = {**part.models, "tagger": Identity("lexical", "noun-rules", "older")}
    kept = (replace(spec, benchmarks=(replace(part, models=older),)), job, store)
    assert await matched(kept, MatchingPorts(RULES)) == {}


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_blank_captions(text: str) -> None:
    spec, job, store = await examined(RuleTagger(), NgramEmbedder())
    matcher = CaptionMatcher(spec, store, MatchingPorts(RULES))
    (scene,) = (await matcher.scenes(job.items[0], text)).values()
    assert scene.matches == {}
    part = spec.benchmark("comprecap")
    settings = {**part.settings, "blank_caption": "unscored"}
    spec = replace(spec, benchmarks=(replace(part, settings=settings),))
    matcher = CaptionMatcher(spec, store, MatchingPorts(RULES))
    assert await matcher.scenes(job.items[0], text) == {}
