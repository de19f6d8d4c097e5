"""Reads the answers of runs of CaptionQA from their ledgers, for its analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from caliper.analysis.captionqa.answers import AnsweredRun, AnswerSet, AskedQuestion, Scores
from caliper.benchmarks.captionqa.planning import NAME
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.captionqa.settings import chosen
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Scored
from caliper.core.question import Item, Question, Source
from caliper.core.run import RunSpec
from caliper.local.analyses.setups import Setup, refuse_equal, run_name, runs_by_setup
from caliper.pipeline.comparing.comparison import open_whole
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun

_OF_CAPTIONS = ("prompt", "taxonomy", "caption_tokens")
"""Settings of the captions, not of the reader."""
_Key = tuple[str, int, int]


async def read_answers(
    runs: Sequence[StoredRun], *, partial: bool = False
) -> tuple[AnswerSet, Mapping[Setup, AnswerSet]]:
    """The answers of runs with the setup of the first one, and of the others by what differs.

    Raises InvalidInput for no run, a run without CaptionQA, two runs of one setup with the same
    label and caption prompt, and when something of a run is lost; NotReady for a run that is not
    complete, unless `partial`; StoreUnavailable.
    """
    by_setup = runs_by_setup(runs, NAME, _OF_CAPTIONS)
    for members in by_setup.values():
        refuse_equal([run.spec for run in members], _name_and_prompt, _equal_fields)
    sets = {
        differing: await _answers(members, partial=partial)
        for differing, members in by_setup.items()
    }
    return sets.pop(()), sets


def _name_and_prompt(spec: RunSpec) -> tuple[str, str]:
    return spec.name, spec.benchmark(NAME).prompt


def _equal_fields(spec: RunSpec) -> str:
    name, prompt = _name_and_prompt(spec)
    return f"label, {name}, and caption prompt, {prompt}"


async def _answers(runs: Sequence[StoredRun], *, partial: bool) -> AnswerSet:
    questions: tuple[AskedQuestion, ...] = ()
    places: dict[_Key, int] = {}
    answered = []
    for stored in runs:
        run = await open_whole(stored, partial=partial)
        if not questions:
            questions = await _questions(run)
            places = {question.key: place for place, question in enumerate(questions)}
        captions = (await stored.captions(run)).get(NAME, {})
        words = {sample: len(text.split()) for sample, text in captions.items()}
        scores = await _scores(run, places)
        label, prompt = _name_and_prompt(run.spec)
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
        who = run_name(run.spec)
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
