"""Reads the answers of runs of CaptionQA from their ledgers, for its analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from caliper.analysis.captionqa.answers import AnsweredRun, AnswerSet, AskedQuestion, Scores
from caliper.analysis.comparability import (
    Distinction,
    describe,
    incomparable,
    setup_differences,
)
from caliper.benchmarks.captionqa.planning import NAME
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.captionqa.settings import chosen
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Scored
from caliper.core.question import Item, Question, Source
from caliper.core.run import RunSpec
from caliper.pipeline.comparing.comparison import refuse_partial
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.ledger.report import run_status
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun

_OF_CAPTIONS = ("prompt", "taxonomy", "caption_tokens")
"""Settings that belong to the captions, not to how they are read."""
_Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class AnswersBySetup:
    """The answers of runs with the setup of the first one, and of the others by what differs."""

    first: AnswerSet
    others: Mapping[tuple[str, ...], AnswerSet]


async def read_answers(runs: Sequence[StoredRun], *, partial: bool = False) -> AnswersBySetup:
    """The answers of runs, in their order, split by setup.

    Raises InvalidInput for no run, a run without CaptionQA, two runs of one setup with the same
    label and caption prompt, and when something of a run is lost; NotReady for a run that is not
    complete, unless `partial`; StoreUnavailable.
    """
    if not runs:
        raise InvalidInput("expected one or more runs", field="RUN")
    by_setup: dict[tuple[str, ...], list[StoredRun]] = {}
    for run in runs:
        differing = tuple(map(describe, _distinctions(runs[0].spec, run.spec)))
        by_setup.setdefault(differing, []).append(run)
    for members in by_setup.values():
        _refuse_equal([run.spec for run in members])
    sets = {
        differing: await _answers(members, partial=partial)
        for differing, members in by_setup.items()
    }
    return AnswersBySetup(sets.pop(()), sets)


def _distinctions(first: RunSpec, other: RunSpec) -> tuple[Distinction, ...]:
    """What differs between the setups of two runs, apart from their captions."""
    reports = [empty_report(_part_of(spec)) for spec in (first, other)]
    return tuple(
        each
        for each in incomparable(setup_differences(*reports))
        if each.kind != "setting" or each.name not in _OF_CAPTIONS
    )


def _part_of(spec: RunSpec) -> RunSpec:
    parts = tuple(part for part in spec.benchmarks if part.name == NAME)
    if not parts:
        raise InvalidInput(f"run {spec.run_id} ({spec.name}) has no CaptionQA", field="RUN")
    return replace(spec, benchmarks=parts)


def _refuse_equal(specs: Sequence[RunSpec]) -> None:
    seen: dict[tuple[str, str], RunSpec] = {}
    for spec in specs:
        prompt = spec.benchmark(NAME).prompt
        other = seen.setdefault((spec.name, prompt), spec)
        if other is not spec:
            raise InvalidInput(
                f"the runs {other.run_id} and {spec.run_id} have the same label, {spec.name}, and "
                f"caption prompt, {prompt}: evaluate one of them with another --name",
                field="RUN",
            )


async def _answers(runs: Sequence[StoredRun], *, partial: bool) -> AnswerSet:
    questions: tuple[AskedQuestion, ...] = ()
    places: dict[_Key, int] = {}
    answered = []
    for stored in runs:
        run = await stored.open()
        if not partial:
            state, coverages = run_status(run.spec, run.summary, run.ledger)
            share = min(coverage.share for coverage in coverages.values())
            refuse_partial(f"run {run.run} ({run.spec.name})", state, share)
        if not questions:
            questions = await _questions(run)
            places = {question.key: place for place, question in enumerate(questions)}
        captions = (await stored.captions(run)).get(NAME, {})
        words = {sample: len(text.split()) for sample, text in captions.items()}
        scores = await _scores(run, places)
        label, prompt = run.spec.name, run.spec.benchmark(NAME).prompt
        on_image = scores[1] if not np.isnan(scores[1]).all() else None
        answered.append(AnsweredRun(label, prompt, scores[0], on_image, words))
    reading = chosen(runs[0].spec.benchmark(NAME).settings, "overall")
    return AnswerSet(questions, tuple(answered), reading)


async def _questions(run: RunLedger) -> tuple[AskedQuestion, ...]:
    """The questions about captions that can have a score, in plan order."""
    questions = [
        _question(item, question, repeat)
        async for items in run.plan()
        for item in items
        if item.benchmark == NAME and item.source is Source.CAPTION
        for _, question, repeat in item.positions()
        if question.unscored is None
    ]
    if not questions:
        who = f"run {run.run} ({run.spec.name})"
        raise InvalidInput(f"{who} has no question that can be scored", field="RUN")
    return tuple(questions)


def _question(item: Item, question: Question[object], repeat: int) -> AskedQuestion:
    payload = question.payload
    assert isinstance(payload, ChoiceQuestion)  # noqa: S101 - CaptionQA has no others
    return AskedQuestion(
        item.sample,
        question.ordinal,
        repeat,
        item.cluster,
        payload.domain,
        payload.category.partition(" - ")[0].strip(),
        payload.has_cannot,
        payload.question,
        payload.choices[payload.answer],
    )


async def _scores(run: RunLedger, places: Mapping[_Key, int]) -> tuple[Scores, Scores]:
    """The scores of the questions about captions, and of those about pictures."""
    by_source = {source: np.full(len(places), np.nan) for source in Source}
    async for items in run.plan():
        for item in items:
            if item.benchmark != NAME:
                continue
            for index, question, repeat in item.positions():
                place = places.get((item.sample, question.ordinal, repeat))
                outcome = run.ledger.outcome(index)
                if place is not None and isinstance(outcome, Scored):
                    by_source[item.source][place] = float(outcome.score)
    return by_source[Source.CAPTION], by_source[Source.MEDIA]
