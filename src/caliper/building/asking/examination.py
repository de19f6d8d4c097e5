"""Asking the questions of a model step, and reading the replies."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from caliper.benchmarks.base import Setting, Settings, setting_reader
from caliper.benchmarks.captionqa.examination import format_options
from caliper.benchmarks.captionqa.reading import read_lenient
from caliper.benchmarks.exchanges import UNREADABLE, Reading, examine_each
from caliper.benchmarks.truncation import certain_part
from caliper.building.asking.questions import QUOTING_STEPS, ModelStep, StepQuestion
from caliper.building.capability.replies import (
    LISTING_SCHEMA,
    MERGING_SCHEMA,
    read_listing,
    read_synonyms,
)
from caliper.building.comprecap.replies import (
    DESCRIBE_SCHEMA,
    MISLEAD_SCHEMA,
    RELATE_SCHEMA,
    read_description,
    read_relations,
    read_wrong_descriptions,
)
from caliper.building.generation import REPLY_SCHEMA, CandidateReader, read_questions
from caliper.core.keys import text_digest
from caliper.core.outcome import Scored
from caliper.core.question import Ask, Decoding, Examination, Item, Question, Source
from caliper.core.report import Generation

SETTINGS = (
    Setting("write_tokens", "2048", range=(1, 1_000_000)),
    Setting("answer_tokens", "64", range=(1, 1_000_000)),
    # Of the blind model, as in the released script.
    Setting("temperature", "1.0", range=(0.0, 2.0)),
)
chosen = setting_reader(SETTINGS)
_SCHEMAS: Mapping[ModelStep, Mapping[str, Any]] = {
    ModelStep.WRITE: REPLY_SCHEMA,
    ModelStep.DESCRIBE: DESCRIBE_SCHEMA,
    ModelStep.RELATE: RELATE_SCHEMA,
    ModelStep.MISLEAD: MISLEAD_SCHEMA,
    ModelStep.ANNOTATE: LISTING_SCHEMA,
    ModelStep.MERGE: MERGING_SCHEMA,
}
CANDIDATE_READERS: Mapping[ModelStep, CandidateReader] = {
    ModelStep.WRITE: read_questions,
    ModelStep.ANNOTATE: read_listing,
    ModelStep.MERGE: read_synonyms,
    ModelStep.DESCRIBE: read_description,
    ModelStep.RELATE: read_relations,
    ModelStep.MISLEAD: read_wrong_descriptions,
}
PROMPTS = {step: f"building/{step}" for step in ModelStep}


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask all questions of the item at once. There is no caption."""
    del caption

    def settle(question: Question[StepQuestion], repeat: int) -> Ask:
        return ask(item, question, repeat, settings)

    return examine_each(item, settle, read_outcome, partial(read_outcome, truncated=True))


def ask(item: Item, question: Question[StepQuestion], repeat: int, settings: Settings) -> Ask:
    """Ask for candidates, or for the letter of an option."""
    payload = question.payload
    schema, quotes = _SCHEMAS.get(ModelStep(payload.step)), payload.step in QUOTING_STEPS
    fields = {"question": payload.question, "options": format_options(payload.options)}
    if schema is not None:
        fields = {"category": payload.category, "most": str(payload.most)}
        fields["text"] = payload.question
    return Ask(
        item=item,
        question=question,
        repeat=repeat,
        prompt=f"building/{payload.step}",
        fields=fields,
        decoding=decoding(payload.step, settings, question.ordinal),
        schema=schema,
        untrusted="text" if quotes else "",
        fence=text_digest(payload.question) if quotes else "",
    )


def decoding(step: str, settings: Settings, ordinal: int = 0) -> Decoding:
    """The decoding of a step's replies. Every vote of the blind model has its own seed."""
    if step in _SCHEMAS:
        return Decoding(max_tokens=int(chosen(settings, "write_tokens")))
    tokens = int(chosen(settings, "answer_tokens"))
    if step == ModelStep.VALIDATE:
        return Decoding(max_tokens=tokens)
    temperature = float(chosen(settings, "temperature"))
    return Decoding(temperature, max_tokens=tokens, seed=ordinal)


def read_outcome(request: Ask, reply: str, *, truncated: bool = False) -> Reading:
    """Score 1 if there are candidates, or the right option is chosen. The text of the chosen option
    is the explanation.
    """
    payload: StepQuestion = request.question.payload
    if payload.step in CANDIDATE_READERS:
        written = CANDIDATE_READERS[ModelStep(payload.step)](
            reply, request.item.sample, payload.category, payload.most
        )
        if written is None:
            return Reading(UNREADABLE, "no candidates could be read from the reply")
        count = len(written.candidates)
        return Reading(Scored(Fraction(bool(count))), f"{count} written", bool(written.unusable))
    if truncated:
        reply = certain_part(reply, payload.options)
    choice = read_lenient(reply, payload.options, payload.question)
    if choice.place is None:
        return Reading(UNREADABLE, "no option could be read from the reply")
    text = payload.options[choice.place]
    return Reading(Scored(Fraction(text == payload.answer)), text, choice.repaired)


def generation(source: Source, settings: Settings, repeats: int | None) -> Generation:
    """The templates of all steps; a run uses one of them."""
    del source
    return Generation(tuple(PROMPTS.values()), decoding(ModelStep.WRITE, settings), repeats or 1)
