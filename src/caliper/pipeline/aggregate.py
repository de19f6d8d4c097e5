"""Aggregating: outcomes become a report, reduced over the plan order.

Whoever computes it, and in whatever order verdicts came, the report is the same to the
last bit.
"""

from __future__ import annotations

from array import array
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Container, Iterator, Mapping
from dataclasses import replace
from math import fsum

from caliper.analysis.intervals import estimate_all
from caliper.benchmarks.base import (
    BLANK_CAPTIONS,
    CAPTION_LENGTH,
    TRUNCATED_CAPTIONS,
    blank_is_answer,
)
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import CutShort
from caliper.core.keys import digest, question_id
from caliper.core.outcome import Reason, Scored, Verdict
from caliper.core.question import Item, Question, Source
from caliper.core.report import (
    BenchmarkReport,
    Coverage,
    Estimate,
    Report,
    VerdictRow,
)
from caliper.core.run import BenchmarkSpec, PlanSummary, RunSpec, RunState
from caliper.core.suspicion import count
from caliper.core.tally import Tally
from caliper.pipeline.generation import generation
from caliper.pipeline.ledger import Ledger

_LEXICAL = (
    "Scored by the built-in lexical judge (no model): for smoke runs and trends, "
    "never for comparison with published figures."
)
_RULES = (
    "Nouns or similarities come from rules instead of spaCy and Sentence-BERT: figures are "
    "not comparable with published ones."
)
_FEW_BLANK = 0.03
"""The share of blank captions up to which a note of them is an ordinary one (ours)."""
_MANY_BLANK = " Check how they were made before you trust a figure."

PlanReader = Callable[[], AsyncIterator[list[Item]]]
Captions = Mapping[str, Mapping[str, str]]
"""Caption texts by benchmark and sample; `CutShort` where a model's limit cut them."""


async def tallies(spec: RunSpec, plan: PlanReader, ledger: Ledger) -> dict[str, Tally]:
    """The tally of each benchmark over the whole plan."""
    totals = {part.name: Tally() for part in spec.benchmarks}
    async for items in plan():
        for part in spec.benchmarks:
            members = (
                (item, ledger.outcomes(item)) for item in items if item.benchmark == part.name
            )
            totals[part.name].absorb(benchmark(part.name).reduce(members, part.settings))
    return totals


async def report(
    spec: RunSpec, summary: PlanSummary, plan: PlanReader, ledger: Ledger, captions: Captions
) -> Report:
    """The report of a run as far as its ledger goes.

    Its state is `complete` when every question has an outcome, each benchmark's coverage
    reaches the floor and no cap left anything out; `finished` when only the first holds, else
    `running`.
    """
    return with_captions(await figures(spec, summary, plan, ledger), spec, captions)


async def figures(spec: RunSpec, summary: PlanSummary, plan: PlanReader, ledger: Ledger) -> Report:
    """The report of a run as far as its ledger goes, but for what it tells of captions."""
    totals = await tallies(spec, plan, ledger)
    state, covered = standing(spec, summary, ledger)
    parts = (_part(spec, name, totals[name], coverage) for name, coverage in covered.items())
    return Report(spec.name, str(state), tuple(parts), _spec_for_readers(spec))


def with_captions(found: Report, spec: RunSpec, captions: Captions) -> Report:
    """The report that `figures` gave, with what it tells of captions."""
    parts = (
        _with_captions(part, spec.benchmark(part.name), captions.get(part.name, {}))
        for part in found.benchmarks
    )
    return replace(found, benchmarks=tuple(parts))


def standing(
    spec: RunSpec, summary: PlanSummary, ledger: Ledger
) -> tuple[RunState, dict[str, Coverage]]:
    """The state of a run as its report tells it, and the coverage of each benchmark."""
    covered = {}
    for planned in summary.benchmarks:
        scored, reasons = ledger.count(planned.first, planned.questions)
        covered[planned.name] = Coverage(planned.questions, scored, reasons)
    if not ledger.finished:
        return RunState.RUNNING, covered
    enough = all(
        coverage.share >= spec.coverage_floor and Reason.BUDGET not in coverage.unscored
        for coverage in covered.values()
    )
    return RunState.COMPLETE if enough else RunState.FINISHED, covered


def declared(spec: RunSpec) -> Report:
    """What a report says without a single verdict: models, settings, data. No figures."""
    parts = (
        BenchmarkReport(
            name=part.name,
            title=benchmark(part.name).title,
            headline=(),
            estimates={},
            tables=(),
            coverage=Coverage(0, 0),
            settings=_settings(part),
            models=_models(part),
            generation=generation(spec, part),
        )
        for part in spec.benchmarks
    )
    return Report(spec.name, str(RunState.PLANNING), tuple(parts), _spec_for_readers(spec))


def _part(spec: RunSpec, name: str, tally: Tally, coverage: Coverage) -> BenchmarkReport:
    part, chosen = spec.benchmark(name), benchmark(name)
    layout = chosen.report(tally, part.settings)
    return BenchmarkReport(
        name=part.name,
        title=chosen.title,
        headline=layout.headline,
        estimates=estimate_all(layout.figures, tally),
        tables=layout.tables,
        coverage=coverage,
        settings=_settings(part),
        models=_models(part),
        notes=(*_model_notes(part), *layout.notes),
        generation=generation(spec, part),
    )


def _with_captions(
    found: BenchmarkReport, part: BenchmarkSpec, texts: Mapping[str, str]
) -> BenchmarkReport:
    if not texts:
        return found
    words, cut = array("q"), 0
    for text in texts.values():
        words.append(len(text.split()))
        cut += isinstance(text, CutShort)
    told = {CAPTION_LENGTH: Estimate(fsum(words) / len(words))}
    if part.captions is None:
        told[TRUNCATED_CAPTIONS] = Estimate(cut)
    blank = words.count(0) if blank_is_answer(part.settings) else 0
    if blank:
        told[BLANK_CAPTIONS] = Estimate(blank)
    models = tuple(_model_notes(part))
    return replace(
        found,
        estimates={**found.estimates, **told},
        notes=(
            *_blank_notes(blank, len(words)),
            *models,
            *_cut_notes(cut, len(words)),
            *found.notes[len(models) :],
        ),
        suspicious=count(texts.values()),
    )


def _settings(part: BenchmarkSpec) -> dict[str, str]:
    shown = {} if part.preparation is None else part.preparation.shown()
    if part.taxonomy:
        shown["taxonomy"] = digest(part.taxonomy)[:12]
    if "captioner" in part.models and part.captions is None:
        shown["caption_tokens"] = str(part.caption_tokens)
    return {**part.settings, "prompt": part.prompt, **shown}


def _models(part: BenchmarkSpec) -> dict[str, str]:
    return {
        role: f"{model.name} ({model.kind}, no revision)"
        if model.label == model.name
        else model.label
        for role, model in sorted(part.models.items())
    }


def _model_notes(part: BenchmarkSpec) -> Iterator[str]:
    kinds = {role: model.kind for role, model in part.models.items()}
    if "lexical" in (kinds.get("judge"), kinds.get("reader"), kinds.get("media")):
        yield _LEXICAL
    if "lexical" in (kinds.get("tagger"), kinds.get("embedder")):
        yield _RULES


def _blank_notes(blank: int, captions: int) -> Iterator[str]:
    if blank:
        yield (
            f"{blank:,} of {captions:,} captions are blank: they count as answers that mention "
            "nothing." + (_MANY_BLANK if blank > _FEW_BLANK * captions else "")
        )


def _cut_notes(cut: int, captions: int) -> Iterator[str]:
    if cut:
        yield (
            f"{cut} of {captions} captions ran into the limit of output tokens: they are judged "
            "as far as they go."
        )


def _spec_for_readers(spec: RunSpec) -> dict[str, object]:
    """What a reader needs to repeat the run beside settings and models; no run id, so that
    equal findings are equal files.
    """
    written = spec.to_json()
    benchmarks = written.pop("benchmarks")
    for kind in ("data", "qa_data", "captions"):
        written[kind] = {part["name"]: part[kind] for part in benchmarks if part[kind]}
    return written


async def verdict_rows(
    spec: RunSpec, plan: PlanReader, ledger: Ledger, only: Container[int] | None = None
) -> AsyncGenerator[list[VerdictRow], None]:
    """One row a (question, repeat) that has an outcome, in plan order, a shard at a time; with
    `only` those at these indices alone.
    """
    async for shard in plan():
        items = shard if only is None else [item for item in shard if _any_of(item, only)]
        found = await ledger.evidence(items)
        yield [
            _row(spec.benchmark(item.benchmark), item, (question, repeat), found[index])
            for item in items
            for index, question, repeat in item.positions()
            if index in found and (only is None or index in only)
        ]


def _any_of(item: Item, only: Container[int]) -> bool:
    return any(index in only for index, _, _ in item.positions())


def id_of(part: BenchmarkSpec, item: Item, question: Question[object]) -> str:
    """The id of a question, equal in all runs over the same data."""
    data = part.qa_data if item.source is Source.MEDIA and part.qa_data else part.data
    return question_id(data, item.key, question.ordinal)


def _row(
    part: BenchmarkSpec, item: Item, position: tuple[Question[object], int], verdict: Verdict
) -> VerdictRow:
    question, repeat = position
    chosen = benchmark(item.benchmark)
    told = chosen.describe(item, question)
    outcome = verdict.outcome
    from_media = item.source is Source.MEDIA
    return VerdictRow(
        index=verdict.index,
        benchmark=item.benchmark,
        dimension=told.dimension,
        item=item.key,
        sample=item.sample,
        cluster=item.cluster,
        media=item.media,
        question_id=id_of(part, item, question),
        question=told.question,
        expected=told.expected,
        repeat=repeat,
        outcome=chosen.label(question, outcome),
        score=float(outcome.score) if isinstance(outcome, Scored) else None,
        reason="" if isinstance(outcome, Scored) else str(outcome.reason),
        explanation=verdict.evidence.explanation,
        reply=verdict.evidence.reply,
        repaired=verdict.evidence.repaired,
        judge=part.models["media" if from_media else chosen.role].label,
    )
