"""Builds a report from a ledger, reducing outcomes in plan order.

The report is the same to the last bit, whatever the process and the order of the verdicts.
"""

from __future__ import annotations

from array import array
from collections.abc import AsyncGenerator, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum

from caliper.analysis.finite import of_all
from caliper.analysis.intervals import estimate_all
from caliper.benchmarks.base import (
    BLANK_CAPTIONS,
    CAPTION_LENGTH,
    LEXICAL_WARNING,
    TRUNCATED_CAPTIONS,
    blank_is_answer,
)
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import CutShort
from caliper.core.keys import question_id
from caliper.core.outcome import Reason, Scored, Verdict
from caliper.core.plan import PlanSummary
from caliper.core.question import Item, Question, Source
from caliper.core.report import BenchmarkReport, Coverage, Estimate, Path, Report, VerdictRow
from caliper.core.run import BenchmarkSpec, RunSpec, RunState
from caliper.core.suspicion import Suspicious
from caliper.core.tally import Tally
from caliper.pipeline.ledger.averages import PlannedAverages
from caliper.pipeline.ledger.declaration import (
    generation_of,
    models_of,
    settings_of,
    spec_for_readers,
)
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.suspicious_captions import suspicious
from caliper.pipeline.store.plan import Captions, PlanReader

_RULES_NOTE = (
    "Nouns or similarities come from rules instead of spaCy and Sentence-BERT: figures are "
    "not comparable with published ones."
)
_BLANK_WARNING_SHARE = 0.03
"""Above this share of blank captions, their note adds a warning (our choice)."""
_BLANK_WARNING = " Check how they were made before you trust a figure."


async def tallies(spec: RunSpec, plan: PlanReader, ledger: Ledger) -> dict[str, Tally]:
    """The tally of each benchmark over the whole plan."""
    totals = {part.name: Tally() for part in spec.benchmarks}
    async for items in plan():
        add_items(totals, spec, items, ledger)
    return totals


def add_items(
    totals: Mapping[str, Tally], spec: RunSpec, items: Sequence[Item], ledger: Ledger
) -> None:
    """Add the known outcomes of whole samples to the tally of each benchmark."""
    for part in spec.benchmarks:
        members = ((item, ledger.outcomes(item)) for item in items if item.benchmark == part.name)
        totals[part.name].absorb(benchmark(part.name).reduce(members, part.settings))


async def report(
    spec: RunSpec, summary: PlanSummary, plan: PlanReader, ledger: Ledger, captions: Captions
) -> Report:
    """The report of a run over the outcomes that its ledger has so far.

    Its state is `complete` if every question has an outcome, each benchmark's coverage reaches
    the floor and no cap left anything out, or `decided` if not all had to be asked; `finished` if
    only the first holds; else `running`.
    """
    scores = await figures(spec, summary, plan, ledger)
    return await with_captions(scores, spec, plan, ledger, captions)


async def figures(spec: RunSpec, summary: PlanSummary, plan: PlanReader, ledger: Ledger) -> Report:
    """The report of a run over the outcomes so far, without its caption statistics."""
    totals, averages = {part.name: Tally() for part in spec.benchmarks}, PlannedAverages(spec)
    async for items in plan():
        add_items(totals, spec, items, ledger)
        averages.add(items)
    return figures_of(spec, totals, run_status(spec, summary, ledger), averages)


def figures_of(
    spec: RunSpec,
    totals: Mapping[str, Tally],
    status: tuple[RunState, Mapping[str, Coverage]],
    averages: PlannedAverages,
) -> Report:
    """The report of tallies and the result of `run_status`, without its caption statistics."""
    state, coverages = status
    parts = (_part(spec, name, totals[name], coverage) for name, coverage in coverages.items())
    marked = (
        replace(part, lacking=averages.lacking(part.name, part.headline, totals[part.name]))
        for part in parts
    )
    return Report(spec.name, str(state), tuple(marked), spec_for_readers(spec))


async def with_captions(
    report: Report, spec: RunSpec, plan: PlanReader, ledger: Ledger, captions: Captions
) -> Report:
    """Add caption statistics to a report that `figures` made."""
    parts = {part.name: part for part in report.benchmarks}
    for name, part in parts.items():
        if texts := captions.get(name):
            signs = await suspicious(name, plan, texts, ledger)
            parts[name] = _with_captions(part, spec.benchmark(name), texts, signs)
    return replace(report, benchmarks=tuple(parts.values()))


def run_status(
    spec: RunSpec, summary: PlanSummary, ledger: Ledger
) -> tuple[RunState, dict[str, Coverage]]:
    """The state of a run for its report, and the coverage of each benchmark."""
    coverages = {}
    for part in summary.benchmarks:
        scored, reasons = ledger.count(part.first, part.questions)
        coverages[part.name] = Coverage(part.questions, scored, reasons)
    if not ledger.finished:
        return RunState.RUNNING, coverages
    enough = all(
        coverage.share >= spec.coverage_floor and Reason.BUDGET not in coverage.unscored
        for coverage in coverages.values()
    )
    if not enough:
        return RunState.FINISHED, coverages
    undrawn = any(coverage.undrawn for coverage in coverages.values())
    return RunState.DECIDED if spec.judging and undrawn else RunState.COMPLETE, coverages


def _part(spec: RunSpec, name: str, tally: Tally, coverage: Coverage) -> BenchmarkReport:
    part, definition = spec.benchmark(name), benchmark(name)
    layout = definition.report(tally, part.settings)
    estimates = estimate_all(layout.figures, tally)
    if spec.judge_share is not None:
        estimates = {path: of_all(each, spec.judge_share) for path, each in estimates.items()}
    return BenchmarkReport(
        name=part.name,
        title=definition.title,
        headline=layout.headline,
        estimates=estimates,
        tables=layout.tables,
        coverage=coverage,
        settings=settings_of(part),
        models=models_of(part),
        notes=(*_model_notes(part, estimates), *layout.notes, *_share_notes(spec, coverage)),
        generation=generation_of(spec, part),
    )


def _with_captions(
    report: BenchmarkReport, part: BenchmarkSpec, texts: Mapping[str, str], signs: Suspicious
) -> BenchmarkReport:
    words, cut = array("q"), 0
    for _, text in texts.items():  # noqa: PERF102 - values() reads spilled texts one by one
        words.append(len(text.split()))
        cut += isinstance(text, CutShort)
    statistics = {CAPTION_LENGTH: Estimate(fsum(words) / len(words))}
    if part.captions is None:
        statistics[TRUNCATED_CAPTIONS] = Estimate(cut)
    blank = words.count(0) if blank_is_answer(part.settings) else 0
    if blank:
        statistics[BLANK_CAPTIONS] = Estimate(blank)
    models = tuple(_model_notes(part, report.estimates))
    return replace(
        report,
        estimates={**report.estimates, **statistics},
        notes=(
            *_blank_notes(blank, len(words)),
            *models,
            *_cut_notes(cut, len(words)),
            *report.notes[len(models) :],
        ),
        suspicious=signs,
    )


def _model_notes(part: BenchmarkSpec, estimates: Mapping[Path, Estimate]) -> Iterator[str]:
    kinds = {role: model.kind for role, model in part.models.items()}
    if "lexical" in (kinds.get("judge"), kinds.get("reader"), kinds.get("media")):
        scored = {path for path, estimate in estimates.items() if estimate.value is not None}
        agreement = benchmark(part.name).lexical_agreement(scored)
        yield " ".join(filter(None, (LEXICAL_WARNING, agreement)))
    if "lexical" in (kinds.get("tagger"), kinds.get("embedder")):
        yield _RULES_NOTE


def _share_notes(spec: RunSpec, coverage: Coverage) -> Iterator[str]:
    if spec.judge_share is not None:
        drawn = coverage.planned - coverage.undrawn
        yield (
            f"Judged in part: {drawn:,} of {coverage.planned:,} questions, "
            f"{100 * spec.judge_share:.4g}% of each task or domain. Intervals are for "
            "the figures of all these questions; leaderboards leave the run out."
        )
    elif spec.judging and coverage.undrawn:
        drawn = coverage.planned - coverage.undrawn
        yield (
            f"Decided: the comparison with the baseline took {drawn:,} of {coverage.planned:,} "
            "questions, fewer of tasks or domains that were sure earlier: they count less in means "
            "over questions. Figures of a run that ended so lean towards its finding, which their "
            "intervals leave out; leaderboards leave the run out."
        )


def _blank_notes(blank: int, captions: int) -> Iterator[str]:
    if blank:
        yield (
            f"{blank:,} of {captions:,} captions are blank: they count as answers that mention "
            "nothing." + (_BLANK_WARNING if blank > _BLANK_WARNING_SHARE * captions else "")
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
    """One row per (question, repeat) that has an outcome, in plan order, one shard at a time.

    With `only`, limited to these indices.
    """
    async for shard in plan():
        items = shard if only is None else [item for item in shard if _any_of(item, only)]
        verdicts = await ledger.evidence(items)
        yield [
            _row(spec.benchmark(item.benchmark), item, (question, repeat), verdicts[index])
            for item in items
            for index, question, repeat in item.positions()
            if index in verdicts and (only is None or index in only)
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
    definition = benchmark(item.benchmark)
    description = definition.describe(item, question)
    outcome = verdict.outcome
    from_media = item.source is Source.MEDIA
    return VerdictRow(
        index=verdict.index,
        benchmark=item.benchmark,
        dimension=description.dimension,
        item=item.key,
        sample=item.sample,
        cluster=item.cluster,
        media=item.media,
        question_id=id_of(part, item, question),
        question=description.question,
        expected=description.expected,
        repeat=repeat,
        outcome=definition.label(question, outcome),
        score=float(outcome.score) if isinstance(outcome, Scored) else None,
        reason="" if isinstance(outcome, Scored) else str(outcome.reason),
        explanation=verdict.evidence.explanation,
        reply=verdict.evidence.reply,
        repaired=verdict.evidence.repaired,
        judge=part.models["media" if from_media else definition.role].label,
        category=description.category,
    )
