import asyncio

import pytest
from tests.fakes.models import ScriptedModel

from caliper.adapters.models.lexical import LexicalAnswerer
from caliper.adapters.packs.files import shipped_pack
from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.benchmarks.settings import resolve_settings
from caliper.core.errors import BackendTimeout, ModelChanged
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.lexical.ngrams import NgramEmbedder
from caliper.lexical.tagger import RuleTagger
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Models
from caliper.ports.models import Answerer
from caliper.wiring.anchors import anchors_of, digest_of, judge_anchors

PACK = shipped_pack()
SETTINGS = {name: resolve_settings(name, {}) for name in BUILT_IN}
SPEC = RunSpec(
    "checkpoint",
    "1",
    PACK.digest,
    tuple(BenchmarkSpec(name, "", None, SETTINGS[name], {}) for name in BUILT_IN),
)


def models(name: str, answerer: Answerer) -> Models:
    return Models({f"{name}/{benchmark(name).role}": answerer}, RuleTagger(), NgramEmbedder())


@pytest.mark.parametrize("name", BUILT_IN)
async def test_rules_over_words_know_most(name: str) -> None:
    judged = await judge_anchors(SPEC, models(name, LexicalAnswerer()), name)
    assert judged.scored_count == len(judged.verdicts) == len(anchors_of(name, SETTINGS[name]))
    assert judged.agreement is not None
    assert judged.agreement > 0.85
    assert judged.anchors == digest_of(name)
    assert judged.judge.startswith("lexical-rules")


async def test_a_judge_whose_replies_are_kept_is_asked_again_every_time() -> None:
    model = ScriptedModel(lambda text, before: "B" if before else "A", cached=True)
    reader = models("captionqa", PromptingAnswerer(model, PACK))
    first = await judge_anchors(SPEC, reader, "captionqa")
    asked = len(model.calls)
    assert asked == len(first.verdicts)
    second = await judge_anchors(SPEC, reader, "captionqa")
    assert len(model.calls) == 2 * asked
    # It says something else by now: that is what anchors are for.
    assert second != first


async def test_every_comprecap_anchor_reaches_the_judge() -> None:
    model = ScriptedModel(lambda text, before: "5")
    judged = await judge_anchors(
        SPEC, models("comprecap", PromptingAnswerer(model, PACK)), "comprecap"
    )
    assert len(model.calls) == len(judged.verdicts)
    assert {verdict.actual for verdict in judged.verdicts.values()} == {"full"}


async def test_trouble_is_no_verdict() -> None:
    def failing(text: str, before: int) -> Exception:
        return BackendTimeout("no answer")

    judge = models("capability", PromptingAnswerer(ScriptedModel(failing), PACK))
    judged = await judge_anchors(SPEC, judge, "capability")
    assert judged.scored_count == 0
    assert judged.agreement is None


async def test_another_model_ends_it_without_leaving_a_call_behind() -> None:
    def changed(text: str, before: int) -> Exception:
        return ModelChanged("another revision")

    model = ScriptedModel(changed)
    with pytest.raises(ModelChanged):
        await judge_anchors(SPEC, models("captionqa", PromptingAnswerer(model, PACK)), "captionqa")
    await asyncio.sleep(0)
    assert model.open == 0
