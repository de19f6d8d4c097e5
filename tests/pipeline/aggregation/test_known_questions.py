"""What is known of a comparison before its first question is asked."""

from collections import Counter
from dataclasses import asdict, replace

import pytest
from tests.fakes import runs
from tests.fakes.evaluations import SIZE, stored_run, verdict
from tests.fakes.stores import MemoryStore

from caliper.adapters.models.lexical import LexicalAnswerer
from caliper.analysis.draw_order import Unit
from caliper.analysis.gate import Check, Policy
from caliper.core.errors import InvalidInput
from caliper.core.question import Answer, Ask
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.aggregation.known_questions import (
    CaptionQuestion,
    caption_questions,
    draw_blocks,
    reused_questions,
    rule_scores,
    settled,
    supplied,
)
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import Runs, StoredRun
from caliper.pipeline.ledger.stop_criterion import StopCriterion
from caliper.pipeline.store.plan import Captions

RULES = LexicalAnswerer()
DOCUMENT = "captionqa/document"
NO_REVISION = Identity("tgi", "judge", "", origin="http://host", cached=True)


async def opened(*parts: BenchmarkSpec, **changes: object) -> RunLedger:
    store = MemoryStore()
    planned = await stored_run(store, "ours", *parts, **changes)
    run = await Runs(store).open(planned.spec.run_id, 0.0)
    assert run is not None
    return run


async def questions() -> tuple[RunLedger, list[CaptionQuestion], dict[str, str]]:
    """A run, its questions, and a caption of each sample."""
    run = await opened()
    found = await caption_questions(run)
    samples = dict.fromkeys(each.sample[1] for each in found)
    return run, found, {sample: f"Thing 0 of {sample} is green." for sample in samples}


async def test_rules_judge_every_question_about_captions_that_exist() -> None:
    run, found, texts = await questions()
    told = await rule_scores(run, {"captionqa": texts}, RULES)
    silent = await rule_scores(run, {"captionqa": dict.fromkeys(texts, "Nothing.")}, RULES)
    assert set(told) == set(silent) == {each.unit.index for each in found}
    assert sum(filter(None, told.values())) > sum(filter(None, silent.values()))
    assert told == await rule_scores(run, {"captionqa": texts}, RULES)
    assert await rule_scores(run, {}, RULES) == {}
    judged_so = await opened(runs.part(models={"reader": RULES.identity}))
    assert await rule_scores(judged_so, {"captionqa": texts}, RULES) == {}


async def test_equal_requests_are_reused_where_replies_are_shared() -> None:
    run, found, texts = await questions()
    changed, *same = texts
    before, after = {"captionqa": texts}, {"captionqa": {**texts, changed: "Another."}}
    wanted = {each.unit.index for each in found if each.sample[1] in same}

    def reused(base: RunSpec, spec: RunSpec) -> frozenset[int]:
        return reused_questions((base, spec), found, (before, after))

    assert reused(run.spec, run.spec) == wanted
    assert not reused_questions((run.spec, run.spec), found, (before, {}))
    unnamed = runs.spec(runs.part(models={"reader": NO_REVISION}))
    assert not reused(replace(unnamed, name="base"), unnamed)
    shared = replace(unnamed, share_replies=True)
    assert reused(shared, shared) == wanted
    ruled = runs.spec(runs.part(models={"reader": RULES.identity}))
    assert reused(ruled, ruled) == wanted
    # A replicate is asked anew.
    assert not reused(run.spec, replace(run.spec, replicate=1))


async def test_captions_that_are_still_to_be_written_are_not_known() -> None:
    written = runs.spec(runs.part(captions=None), runs.part("capability"))
    captions = {"captionqa": {"a": "x"}, "capability": {"b": "y"}}
    assert supplied(written, captions) == {"capability": {"b": "y"}}
    found = [
        CaptionQuestion(Unit(index, "natural", sample), sample, ("captionqa", sample))
        for index, sample in enumerate("ab")
    ]
    assert settled(written, captions, found) == {"capability": {"b": "y"}}
    assert settled(written, captions, found[:1]) == captions


def test_every_block_has_its_share_of_reused_questions() -> None:
    found = [
        CaptionQuestion(
            Unit(index, "captionqa/natural", str(index)), str(index), ("captionqa", str(index))
        )
        for index in range(4800)
    ]
    reused = frozenset(range(0, 4800, 4))
    blocks = draw_blocks(found, reused, b"seed")
    assert sorted(index for block in blocks for index in block) == list(range(4800))
    half = [index for block in blocks[:20] for index in block]
    assert len(reused & set(half)) == 600
    assert len(set(half) - reused) == 1800


class CountedRules(LexicalAnswerer):
    """Counts the captions that are judged."""

    def __init__(self) -> None:
        self.captions = Counter[str]()

    async def answer(self, ask: Ask) -> Answer:
        self.captions[ask.fields["caption"]] += 1
        return await super().answer(ask)


async def test_a_comparison_knows_what_rules_say_of_both_captions_and_what_is_reused() -> None:
    run, found, before = await questions()
    changed = next(iter(before))
    after = {**before, changed: "Another thing is blue."}
    store = MemoryStore()
    planned = await stored_run(store, "base")
    judged = await Runs(store).open(planned.spec.run_id, 0.0)
    assert judged is not None
    await judged.merge([verdict(index, 1) for index in range(SIZE)])
    await judged.log.flush()

    async def captions_of(_: RunLedger) -> Captions:
        return {"captionqa": before}

    rules = CountedRules()
    base = StoredRun(planned.spec, store, captions_of)
    plan = SequentialPlan(base, None, 1.0, 0.05, rules=rules)
    assert plan.digest != replace(plan, rules=None).digest
    assert plan.digest != replace(plan, alarm_level=0.01).digest
    similar = replace(plan, similar=True).criterion
    assert plan.digest != similar.digest
    assert StopCriterion.from_json(asdict(similar)) == similar
    # As an earlier release wrote it.
    written = asdict(plan.criterion)
    del written["similar"]
    assert StopCriterion.from_json(written) == plan.criterion
    rule = await plan.rule_of(run, {"captionqa": after})
    assert sum(rules.captions.values()) == 2 * len(found)
    assert rules.captions[after[changed]] == rules.captions[before[changed]] == 2
    assert sum(map(len, rule.blocks)) == len(found)
    # How much the judge flips is not known.
    assert not rule.is_sure({each.unit.index: 1.0 for each in found}, 1)
    assert rule.last is not None
    (check,) = rule.last.checks
    assert (check.drawn, check.reused) == (2, len(found) - 2)
    # The last look at the run asks rules no more, one at other captions only about those.
    await plan.rule_of(run, {"captionqa": after})
    assert sum(rules.captions.values()) == 2 * len(found)
    await plan.rule_of(run, {"captionqa": {**before, changed: "A third thing."}})
    assert sum(rules.captions.values()) == 3 * len(found)


@pytest.mark.parametrize(
    ("figure", "difference"),
    [
        # Of six questions, two are about documents.
        ("overall_by.questions.score", -1 / 3),
        ("overall_by.domains.score", -1 / 2),
        ("domains.document.score", -1.0),
    ],
)
async def test_a_figure_over_questions_counts_every_question_once(
    figure: str, difference: float
) -> None:
    run, plan = await over_two_domains(figure)
    found = await caption_questions(run)
    outcomes = {one.unit.index: float(one.unit.stratum != DOCUMENT) for one in found}
    rule = await plan.rule_of(run)
    for block in range(1, len(rule.blocks) + 1):
        rule.is_sure(outcomes, block)
    assert rule.last is not None
    assert rule.last.difference == pytest.approx(difference)


async def test_the_headline_over_questions_counts_every_question_once() -> None:
    settings = {**runs.part().settings, "overall": "questions"}
    run, plan = await over_two_domains(None, runs.part(settings=settings))
    rule = await plan.rule_of(run)
    assert not rule.is_sure({each.unit.index: 1.0 for each in await caption_questions(run)}, 1)


@pytest.mark.parametrize("figure", ["categories.*.score", "domains.document.accuracy"])
async def test_figures_that_no_stratum_adds_up_to_are_refused(figure: str) -> None:
    run, plan = await over_two_domains(figure)
    with pytest.raises(InvalidInput, match=r"captionqa: .*only"):
        await plan.rule_of(run)


async def over_two_domains(
    figure: str | None, part: BenchmarkSpec | None = None
) -> tuple[RunLedger, SequentialPlan]:
    """A run of two domains, whose baseline is right everywhere, and the check of a figure."""
    store, parts = MemoryStore(), (part or runs.part(),)
    planned = [
        await stored_run(store, name, *parts, domains=("natural", "document"))
        for name in ("base", "ours")
    ]
    opened = [await Runs(store).open(each.spec.run_id, 0.0) for each in planned]
    base, run = (found for found in opened if found is not None)
    await base.merge([verdict(index, 1) for index in range(SIZE)])
    await base.log.flush()

    async def captions_of(_: RunLedger) -> Captions:
        return {}

    policy = figure and Policy((Check("captionqa", figure, max_drop=1.0),))
    stored = StoredRun(planned[0].spec, store, captions_of)
    return run, SequentialPlan(stored, policy or None, 1.0, 0.05)
