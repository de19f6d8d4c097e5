"""Facts about a comparison that are known before its first question is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from caliper.analysis.draw_order import Unit, draw_order
from caliper.analysis.sequential import KnownScores
from caliper.benchmarks.base import lacks_caption
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.keys import digest
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Scored
from caliper.core.question import Item, Source
from caliper.core.run import RunSpec
from caliper.pipeline.aggregation.drawn_blocks import mean_score, question_spans
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.replies import salt_of
from caliper.pipeline.ledger.report import id_of
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.publisher import jobs
from caliper.pipeline.store.plan import Captions
from caliper.ports.models import Answerer

_RULES = "lexical"
_WITHOUT_NOISE = (_RULES, "replay")
RuleScores = dict[str, dict[int, float | None]]
"""Scores of rules by index, by the digest of run and captions."""


@dataclass(frozen=True, slots=True)
class CaptionQuestion:
    """A question about a caption that can be asked. `key` is its id in every run, `sample` the
    caption's benchmark and sample.
    """

    unit: Unit
    key: str
    sample: tuple[str, str]


async def caption_questions(run: RunLedger) -> list[CaptionQuestion]:
    """The questions about captions that a run can ask."""
    questions = []
    async for items in run.plan():
        for item in items:
            if item.source is Source.MEDIA:
                continue
            part, group = run.spec.benchmark(item.benchmark), benchmark(item.benchmark).group(item)
            for question, span in question_spans(item):
                if question.unscored is None:
                    unit = Unit(span.start, f"{item.benchmark}/{group}", item.cluster)
                    sample = (item.benchmark, item.sample)
                    questions.append(CaptionQuestion(unit, id_of(part, item, question), sample))
    return questions


async def scores_by_id(run: RunLedger) -> dict[str, float | None]:
    """The scores of a run by the id of the question, None for a question without one."""
    spans: dict[int, range] = {}
    async for items in run.plan():
        spans |= {span.start: span for item in items for _, span in question_spans(item)}
    return {one.key: mean_score(run, spans[one.unit.index]) for one in await caption_questions(run)}


def is_deterministic(spec: RunSpec) -> bool:
    """Whether only rules and recordings judge in a run."""
    models = (part.models[benchmark(part.name).role] for part in spec.benchmarks)
    return all(model.kind in _WITHOUT_NOISE for model in models)


def supplied(spec: RunSpec, captions: Captions) -> Captions:
    """The captions that exist before anything is drawn; others are written meanwhile."""
    names = {part.name for part in spec.benchmarks if part.captions is not None}
    return {name: texts for name, texts in captions.items() if name in names}


def settled(spec: RunSpec, captions: Captions, questions: Sequence[CaptionQuestion]) -> Captions:
    """The captions that stay as they are: supplied ones, and those of a captioner that has written
    all. With only some captions, rules would know more of the drawn questions than of the rest.
    """
    lacking = {
        one.sample[0] for one in questions if one.sample[1] not in captions.get(one.sample[0], {})
    }
    fixed = supplied(spec, captions)
    return {name: texts for name, texts in captions.items() if name in fixed or name not in lacking}


async def highest_coverage(run: RunLedger, captions: Captions) -> dict[str, float]:
    """The share of questions that could have scores if all were drawn, of benchmarks whose captions
    exist.
    """
    texts, total, answerable = supplied(run.spec, captions), Counter[str](), Counter[str]()
    async for items in run.plan():
        for item in items:
            if item.benchmark in texts:
                caption = texts[item.benchmark].get(item.sample)
                lacks = lacks_caption(item, caption, run.spec.benchmark(item.benchmark).settings)
                count = sum(question.unscored is None for _, question, _ in item.positions())
                total[item.benchmark] += count
                answerable[item.benchmark] += 0 if lacks else count
    return {name: answerable[name] / count for name, count in total.items() if count}


def reused_questions(
    specs: tuple[RunSpec, RunSpec],
    questions: Sequence[CaptionQuestion],
    captions: tuple[Captions, Captions],
) -> frozenset[int]:
    """The questions with the same requests, and so replies, as in the baseline: about equal
    captions, to a model whose replies both runs share. Specs and captions are of baseline and
    candidate.
    """
    base, spec = specs
    shares = {
        part.name
        for part in spec.benchmarks
        if part.models[benchmark(part.name).role].kind in _WITHOUT_NOISE
        or _salt(base, part.name) == _salt(spec, part.name)
    }
    before, after = captions

    def text(texts: Captions, one: CaptionQuestion) -> str | None:
        name, sample = one.sample
        return texts.get(name, {}).get(sample)

    return frozenset(
        one.unit.index
        for one in questions
        if one.sample[0] in shares
        and text(after, one) is not None
        and text(before, one) == text(after, one)
    )


def _salt(spec: RunSpec, name: str) -> str:
    return salt_of(spec, spec.run_id, [spec.benchmark(name).models[benchmark(name).role]])


async def known_scores(
    runs: tuple[RunLedger, RunLedger, RunLedger | None],
    questions: Sequence[CaptionQuestion],
    texts: tuple[Captions, Captions],
    rules: tuple[Answerer | None, RuleScores],
) -> KnownScores:
    """The known scores of a comparison. `runs` are the candidate, the baseline, and another judging
    of some of the baseline; `texts` the captions of baseline and candidate; `rules` come with their
    earlier scores, to which this adds.
    """
    run, base, repeats = runs
    before = await scores_by_id(base)
    again = {} if repeats is None else await scores_by_id(repeats)
    scores = {each.unit.index: before.get(each.key) for each in questions}
    reusable = [each for each in questions if scores[each.unit.index] is not None]
    answerer, rule_results = rules
    by_rules = []
    for captions in texts:
        key = _digest_of(run, questions, captions)
        if answerer is not None and key not in rule_results:
            rule_results[key] = await rule_scores(run, captions, answerer)
        by_rules.append(rule_results.get(key))
    return KnownScores(
        scores,
        tuple(filter(None, by_rules)),
        reused_questions((base.spec, run.spec), reusable, texts),
        {each.unit.index: again[each.key] for each in questions if each.key in again},
        is_deterministic(run.spec),
    )


def _digest_of(run: RunLedger, questions: Sequence[CaptionQuestion], captions: Captions) -> str:
    samples = sorted({one.sample for one in questions})
    return digest([run.run, [captions.get(name, {}).get(sample) for name, sample in samples]])


def draw_blocks(
    questions: Sequence[CaptionQuestion], reused: frozenset[int], seed: bytes
) -> list[list[int]]:
    """The blocks in which questions are drawn. Reused ones are separate strata, so that each block
    has its share of both; their replies are read from the store without asking a model.
    """
    units = [
        replace(one.unit, stratum=f"{one.unit.stratum}, reused")
        if one.unit.index in reused
        else one.unit
        for one in questions
    ]
    return draw_order(units, seed)


async def rule_scores(
    run: RunLedger, captions: Captions, rules: Answerer
) -> dict[int, float | None]:
    """The scores that rules give to captions, by index; None for a question that they leave open.
    Empty where the rules are the judge, for benchmarks without rules, and without captions.
    """
    judged = set()
    for part in run.spec.benchmarks:
        definition = benchmark(part.name)
        has_rules = definition.rules is not None and not definition.needs_language
        if has_rules and part.models[definition.role].kind != _RULES and captions.get(part.name):
            judged.add(part.name)
    if not judged:
        return {}
    answerers = {f"{name}/{benchmark(name).role}": rules for name in judged}
    examiner, scores = Examiner(run.spec, Models(answerers)), dict[int, float | None]()
    async for items in run.plan():
        about = [each for each in items if each.benchmark in judged]
        for members in jobs([each for each in about if each.source is Source.CAPTION]):
            scores |= await _rule_scores(run, members, captions, examiner)
            # Leases are renewed meanwhile.
            await asyncio.sleep(0)
    return scores


async def _rule_scores(
    run: RunLedger, items: tuple[Item, ...], captions: Captions, examiner: Examiner
) -> Mapping[int, float | None]:
    name, sample = items[0].benchmark, items[0].sample
    text = captions[name].get(sample)
    caption = None if text is None else Caption(sample, text)
    verdicts = await examiner.examine(ExamineJob(run.run, name, sample, caption, items))
    outcomes = {verdict.index: verdict.outcome for verdict in verdicts.verdicts}
    return {
        span.start: float(outcome.score) if isinstance(outcome, Scored) else None
        for item in items
        for _, span in question_spans(item)
        # Rules give the same score at every repeat.
        for outcome in (outcomes.get(span.start),)
    }
