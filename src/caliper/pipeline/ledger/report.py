"""Aggregating: outcomes become a report, reduced over the plan order.

Whoever computes it, and in whatever order verdicts came, the report is the same to the
last bit.
"""

from __future__ import annotations

from array import array
from collections.abc import (
    AsyncGenerator,
    Container,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from math import fsum

from caliper.analysis.intervals import estimate_all
from caliper.benchmarks import lexical_agreement
from caliper.benchmarks.base import (
    BLANK_CAPTIONS,
    CAPTION_LENGTH,
    TRUNCATED_CAPTIONS,
    blank_is_answer,
)
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import CutShort
from caliper.core.keys import question_id
from caliper.core.outcome import Reason, Scored, Verdict
from caliper.core.plan import PlanSummary
from caliper.core.question import Item, Question, Source
from caliper.core.report import (
    BenchmarkReport,
    Coverage,
    Estimate,
    Path,
    Report,
    VerdictRow,
)
from caliper.core.run import BenchmarkSpec, RunSpec, RunState
from caliper.core.suspicion import MANY_MEDIA, Suspicious, count, repeated
from caliper.core.tally import Tally
from caliper.pipeline.ledger.declaration import (
    generation_of,
    models_of,
    settings_of,
    spec_for_readers,
)
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.store.plan import Captions, PlanReader

_RULES = (
    "Nouns or similarities come from rules instead of spaCy and Sentence-BERT: figures are "
    "not comparable with published ones."
)
_FEW_BLANK = 0.03
"""The share of blank captions up to which a note of them is an ordinary one (ours)."""
_MANY_BLANK = " Check how they were made before you trust a figure."


async def tallies(spec: RunSpec, plan: PlanReader, ledger: Ledger) -> dict[str, Tally]:
    """The tally of each benchmark over the whole plan."""
    totals = {part.name: Tally() for part in spec.benchmarks}
    async for items in plan():
        add_items(totals, spec, items, ledger)
    return totals


def add_items(
    totals: Mapping[str, Tally], spec: RunSpec, items: Sequence[Item], ledger: Ledger
) -> None:
    """Add whole samples to the tally of each benchmark, as far as the ledger knows them."""
    for part in spec.benchmarks:
        members = ((item, ledger.outcomes(item)) for item in items if item.benchmark == part.name)
        totals[part.name].absorb(benchmark(part.name).reduce(members, part.settings))


async def report(
    spec: RunSpec, summary: PlanSummary, plan: PlanReader, ledger: Ledger, captions: Captions
) -> Report:
    """The report of a run as far as its ledger goes.

    Its state is `complete` when every question has an outcome, each benchmark's coverage
    reaches the floor and no cap left anything out; `finished` when only the first holds, else
    `running`.
    """
    found = await figures(spec, summary, plan, ledger)
    return await with_captions(found, spec, plan, captions)


async def figures(spec: RunSpec, summary: PlanSummary, plan: PlanReader, ledger: Ledger) -> Report:
    """The report of a run as far as its ledger goes, but for what it tells of captions."""
    totals = await tallies(spec, plan, ledger)
    return figures_of(spec, totals, standing(spec, summary, ledger))


def figures_of(
    spec: RunSpec,
    totals: Mapping[str, Tally],
    stands: tuple[RunState, Mapping[str, Coverage]],
) -> Report:
    """The report of these sums and of what `standing` gave, but for what it tells of captions."""
    state, covered = stands
    parts = (_part(spec, name, totals[name], coverage) for name, coverage in covered.items())
    return Report(spec.name, str(state), tuple(parts), spec_for_readers(spec))


async def with_captions(
    found: Report, spec: RunSpec, plan: PlanReader, captions: Captions
) -> Report:
    """The report that `figures` gave, with what it tells of captions."""
    parts = {part.name: part for part in found.benchmarks}
    for name, part in parts.items():
        if texts := captions.get(name):
            signs = await suspicious(name, plan, texts)
            parts[name] = _with_captions(part, spec.benchmark(name), texts, signs)
    return replace(found, benchmarks=tuple(parts.values()))


async def suspicious(name: str, plan: PlanReader, texts: Mapping[str, str]) -> Suspicious:
    """The signs of captions by sample, those of one caption on many media among them."""
    alike = repeated(texts)
    media: dict[str, set[str]] = {text: set() for text in alike.values()}
    if alike:
        async for items in plan():
            for item in items:
                if item.benchmark == name and item.sample in alike:
                    media[alike[item.sample]].add(item.cluster)
    on_many = {sample for sample, text in alike.items() if len(media[text]) >= MANY_MEDIA}
    return count(texts, benchmark(name).alternatives, on_many)


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


def _part(spec: RunSpec, name: str, tally: Tally, coverage: Coverage) -> BenchmarkReport:
    part, chosen = spec.benchmark(name), benchmark(name)
    layout = chosen.report(tally, part.settings)
    estimates = estimate_all(layout.figures, tally)
    return BenchmarkReport(
        name=part.name,
        title=chosen.title,
        headline=layout.headline,
        estimates=estimates,
        tables=layout.tables,
        coverage=coverage,
        settings=settings_of(part),
        models=models_of(part),
        notes=(*_model_notes(part, estimates), *layout.notes),
        generation=generation_of(spec, part),
    )


def _with_captions(
    found: BenchmarkReport, part: BenchmarkSpec, texts: Mapping[str, str], signs: Suspicious
) -> BenchmarkReport:
    words, cut = array("q"), 0
    for _, text in texts.items():  # noqa: PERF102 - spilled texts are read one by one otherwise
        words.append(len(text.split()))
        cut += isinstance(text, CutShort)
    told = {CAPTION_LENGTH: Estimate(fsum(words) / len(words))}
    if part.captions is None:
        told[TRUNCATED_CAPTIONS] = Estimate(cut)
    blank = words.count(0) if blank_is_answer(part.settings) else 0
    if blank:
        told[BLANK_CAPTIONS] = Estimate(blank)
    models = tuple(_model_notes(part, found.estimates))
    return replace(
        found,
        estimates={**found.estimates, **told},
        notes=(
            *_blank_notes(blank, len(words)),
            *models,
            *_cut_notes(cut, len(words)),
            *found.notes[len(models) :],
        ),
        suspicious=signs,
    )


def _model_notes(part: BenchmarkSpec, estimates: Mapping[Path, Estimate]) -> Iterator[str]:
    kinds = {role: model.kind for role, model in part.models.items()}
    if "lexical" in (kinds.get("judge"), kinds.get("reader"), kinds.get("media")):
        scored = {path for path, found in estimates.items() if found.value is not None}
        yield lexical_agreement.note(part.name, scored)
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
