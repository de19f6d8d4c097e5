"""The judged questions of a run about captions, in the form shown to people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import NotReady
from caliper.core.outcome import Scored
from caliper.core.question import Source
from caliper.core.report import Coverage, VerdictRow
from caliper.core.run import RunState
from caliper.pipeline.ledger.report import id_of, run_status, verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger


@dataclass(frozen=True, slots=True)
class QuestionVerdicts:
    """A question with its scored verdicts, one per repeat, and the words for its possible scores,
    lowest first.
    """

    rows: tuple[VerdictRow, ...]
    words: Mapping[str, float]

    @property
    def first(self) -> VerdictRow:
        """The verdict that people see."""
        return self.rows[0]

    @property
    def word(self) -> str:
        """The word of the first verdict."""
        return next(word for word, score in self.words.items() if score == self.first.score)

    @property
    def scores(self) -> dict[int, float | None]:
        """The scores by repeat."""
        return {row.repeat: row.score for row in self.rows}


Questions = Mapping[str, QuestionVerdicts]
"""Judged questions by id, in plan order."""


async def judged_questions(run: RunLedger) -> dict[str, QuestionVerdicts]:
    """The questions with a score. Those that are measured, not judged, are left out."""
    words = await _words(run)
    rows_by_id: dict[str, list[VerdictRow]] = {}
    async for shard in verdict_rows(run.spec, run.plan, run.ledger):
        for row in shard:
            if row.score is not None and row.question_id in words:
                rows_by_id.setdefault(row.question_id, []).append(row)
    return {name: QuestionVerdicts(tuple(rows), words[name]) for name, rows in rows_by_id.items()}


def sampled_coverages(run: RunLedger) -> Mapping[str, Coverage]:
    """The judged part of each benchmark: all of it, or a random share.

    Raises NotReady for an incomplete run, and for one judged until a comparison was sure: its
    verdicts are biased towards the finding.
    """
    state, coverages = run_status(run.spec, run.summary, run.ledger)
    if run.spec.judging and any(one.undrawn for one in coverages.values()):
        raise NotReady(
            f"{run.run} was judged until it was sure, not at random: judge all of it, or a "
            "--judge-share"
        )
    if state != RunState.COMPLETE:
        raise NotReady(f"{run.run} is {state}, not complete: its figures may change")
    return coverages


async def _words(run: RunLedger) -> dict[str, Mapping[str, float]]:
    """The words of all scores of each question about a caption."""
    words: dict[str, Mapping[str, float]] = {}
    async for items in run.plan():
        for item in items:
            if item.source is not Source.CAPTION:
                continue
            definition, part = benchmark(item.benchmark), run.spec.benchmark(item.benchmark)
            for question in item.questions:
                if scores := sorted(definition.scores(question)):
                    words[id_of(part, item, question)] = {
                        definition.label(question, Scored(score)): float(score) for score in scores
                    }
    return words
