"""Reads the verdicts of runs of CAPability from their ledgers, for its analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from caliper.analysis.capability.verdict_sets import (
    AnnotatedElement,
    JudgedRun,
    MediaAnswers,
    Scores,
    VerdictSet,
)
from caliper.benchmarks.capability.planning import NAME
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.core.errors import InvalidInput
from caliper.core.keys import text_digest
from caliper.core.outcome import Scored
from caliper.core.question import Item
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.local.analyses.setups import (
    Setup,
    refuse_equal,
    refuse_other_data,
    run_name,
    runs_by_setup,
)
from caliper.pipeline.comparing.comparison import open_whole
from caliper.pipeline.ledger.report import add_items
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun

_OF_CAPTIONS = ("prompt", "taxonomy", "caption_tokens", "frames", "images", f"qa_data.{NAME}")
"""Settings of the captions and of the questions about the media, not of the judge."""
_ABSENT = {"captions": "", "replicate": 0}
"""Values for runs without these details. Supplied captions have no preparation."""
_Key = tuple[str, int]


async def read_element_verdicts(
    runs: Sequence[StoredRun], *, partial: bool = False
) -> tuple[VerdictSet, Mapping[Setup, VerdictSet]]:
    """The verdicts of runs with the setup of the first one, and of the others by what differs.

    Raises InvalidInput for no run, a run without CAPability, runs over other data or with other
    questions about the media, two runs of one setup with the same label, preparation and replicate,
    and when something of a run is lost; NotReady for a run that is not complete, unless `partial`;
    StoreUnavailable.
    """
    by_setup = runs_by_setup(runs, NAME, _OF_CAPTIONS)
    refuse_other_data([run.spec for run in runs], NAME)
    names = _names([run.spec for run in runs])
    for members in by_setup.values():
        refuse_equal([run.spec for run in members], _variant, _equal_fields)
    sets = {
        differing: await _verdicts(members, names, partial=partial)
        for differing, members in by_setup.items()
    }
    return sets.pop(()), sets


def _variant(spec: RunSpec) -> tuple[object, ...]:
    """The fields that distinguish runs of one setup."""
    return spec.name, spec.benchmark(NAME).preparation, spec.replicate


def _equal_fields(spec: RunSpec) -> str:
    return f"label, {spec.name}, preparation and replicate"


def _names(specs: Sequence[RunSpec]) -> dict[tuple[object, ...], str]:
    """The name of each variant: its label, with distinguishing fields if others share that."""
    details = {_variant(spec): _details(spec) for spec in specs}
    by_label: dict[object, list[Mapping[str, object]]] = {}
    for (label, *_), each in details.items():
        by_label.setdefault(label, []).append(each)
    names = {}
    for variant, each in details.items():
        alike = by_label[variant[0]]
        apart = [
            f"{field} {value}"
            for field, value in each.items()
            if any(other.get(field, _ABSENT.get(field, value)) != value for other in alike)
        ]
        names[variant] = ", ".join((str(variant[0]), *apart))
    return names


def _details(spec: RunSpec) -> dict[str, object]:
    preparation = spec.benchmark(NAME).preparation
    details = {"captions": "supplied"} if preparation is None else asdict(preparation)
    return details | ({"replicate": spec.replicate} if spec.replicate else {})


async def _verdicts(
    runs: Sequence[StoredRun], names: Mapping[tuple[object, ...], str], *, partial: bool
) -> VerdictSet:
    elements: tuple[AnnotatedElement, ...] = ()
    judged = []
    for stored in runs:
        run = await open_whole(stored, partial=partial)
        elements = elements or await _elements(run)
        texts = (await stored.captions(run)).get(NAME, {})
        words, digests = {}, {}
        for sample, text in texts.items():
            words[sample], digests[sample] = len(text.split()), text_digest(text)
        scores, answers, tally = await _scores(run, elements)
        part = run.spec.benchmark(NAME)
        captioner = part.models.get("captioner") if part.captions is None else None
        judged.append(
            JudgedRun(
                names[_variant(run.spec)],
                run.spec.name,
                scores,
                tally,
                answers,
                words,
                digests,
                part.preparation,
                f"{captioner.label}, {part.caption_tokens} tokens" if captioner else "",
                run.spec.judge_share,
                part.settings,
            )
        )
    return VerdictSet(elements, tuple(judged))


async def _elements(run: RunLedger) -> tuple[AnnotatedElement, ...]:
    """The elements whose verdict can have a score, in plan order."""
    elements = [
        AnnotatedElement(
            item.key, question.ordinal, question.payload.task, item.sample, item.cluster
        )
        async for items in run.plan()
        for item in items
        if item.benchmark == NAME
        for question in item.questions
        if isinstance(question.payload, ElementQuestion) and question.unscored is None
    ]
    if not elements:
        raise InvalidInput(f"{run_name(run.spec)} has no question that can be scored", field="RUN")
    return tuple(elements)


async def _scores(
    run: RunLedger, elements: Sequence[AnnotatedElement]
) -> tuple[Scores, MediaAnswers | None, Tally]:
    """The scores by repeat, the answers about the media, and the sums of the run's report."""
    places = {element.key: place for place, element in enumerate(elements)}
    repeats = run.spec.benchmark(NAME).repeats or 1
    scores = np.full((repeats, len(places)), np.nan)
    answers = MediaAnswers(np.zeros(len(places), dtype=np.bool_), np.full(len(places), np.nan))
    totals = {part.name: Tally() for part in run.spec.benchmarks}
    async for items in run.plan():
        here = [item for item in items if item.benchmark == NAME]
        add_items(totals, run.spec, here, run.ledger)
        for item in here:
            _enter(run, item, places, (scores, answers))
    has_questions = run.spec.benchmark(NAME).qa_data is not None
    return scores, answers if has_questions else None, totals[NAME]


def _enter(
    run: RunLedger, item: Item, places: Mapping[_Key, int], target: tuple[Scores, MediaAnswers]
) -> None:
    scores, answers = target
    for index, question, repeat in item.positions():
        outcome, payload = run.ledger.outcome(index), question.payload
        score = float(outcome.score) if isinstance(outcome, Scored) else np.nan
        if not isinstance(payload, MediaQuestion):
            place = places.get((item.key, question.ordinal))
            if place is not None:
                scores[repeat, place] = score
        elif payload.joins is not None and payload.joins in places:
            answers.elements[places[payload.joins]] = True
            answers.right[places[payload.joins]] = score
