"""Asking the questions of a model step, and reading the replies."""

from __future__ import annotations

from fractions import Fraction

from caliper.benchmarks.base import Setting, Settings, setting_reader
from caliper.benchmarks.captionqa.examination import format_options
from caliper.benchmarks.captionqa.reading import read_lenient
from caliper.benchmarks.exchanges import UNREADABLE, Reading, examine_each
from caliper.building.asking.questions import ModelStep, StepQuestion
from caliper.building.generation import REPLY_SCHEMA, read_questions
from caliper.core.outcome import Scored
from caliper.core.question import Ask, Decoding, Examination, Item, Question, Source
from caliper.core.report import Generation

SETTINGS = (
    Setting(
        "write_tokens",
        "2048",
        "output tokens of a reply that holds questions",
        range=(1, 1_000_000),
    ),
    Setting(
        "answer_tokens",
        "64",
        "output tokens of an answer; a model that reasons needs more",
        range=(1, 1_000_000),
    ),
    Setting(
        "temperature",
        "1.0",
        "the blind model's temperature: that of the released script",
        range=(0.0, 2.0),
    ),
)
chosen = setting_reader(SETTINGS)
PROMPTS = {step: f"building/{step}" for step in ModelStep}


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask all questions of the item at once. There is no caption."""
    del caption

    def settle(question: Question[StepQuestion], repeat: int) -> Ask:
        return ask(item, question, repeat, settings)

    return examine_each(item, settle, read_outcome)


def ask(item: Item, question: Question[StepQuestion], repeat: int, settings: Settings) -> Ask:
    """Ask for questions, or for the letter of an option."""
    payload = question.payload
    writes = payload.step == ModelStep.WRITE
    fields = {"category": payload.category, "most": str(payload.most)}
    if not writes:
        fields = {"question": payload.question, "options": format_options(payload.options)}
    return Ask(
        item=item,
        question=question,
        repeat=repeat,
        prompt=f"building/{payload.step}",
        fields=fields,
        decoding=decoding(payload.step, settings, question.ordinal),
        schema=REPLY_SCHEMA if writes else None,
    )


def decoding(step: str, settings: Settings, ordinal: int = 0) -> Decoding:
    """How a model is sampled. Every vote of the blind model has a seed of its own."""
    if step == ModelStep.WRITE:
        return Decoding(max_tokens=int(chosen(settings, "write_tokens")))
    tokens = int(chosen(settings, "answer_tokens"))
    if step == ModelStep.VALIDATE:
        return Decoding(max_tokens=tokens)
    temperature = float(chosen(settings, "temperature"))
    return Decoding(temperature, max_tokens=tokens, seed=ordinal)


def read_outcome(request: Ask, reply: str) -> Reading:
    """Score 1 if there are questions, or the right option is chosen. The explanation of an answer
    is the text of the option.
    """
    payload: StepQuestion = request.question.payload
    if payload.step == ModelStep.WRITE:
        written = read_questions(reply, request.item.sample, payload.category, payload.most)
        if written is None:
            return Reading(UNREADABLE, "no questions could be read from the reply")
        found = len(written.candidates)
        return Reading(Scored(Fraction(bool(found))), f"{found} questions", bool(written.unusable))
    choice = read_lenient(reply, payload.options, payload.question)
    if choice.place is None:
        return Reading(UNREADABLE, "no option could be read from the reply")
    text = payload.options[choice.place]
    return Reading(Scored(Fraction(text == payload.answer)), text, choice.repaired)


def generation(source: Source, settings: Settings, repeats: int | None) -> Generation:
    """The templates of all steps: a run asks by one of them."""
    del source
    return Generation(tuple(PROMPTS.values()), decoding(ModelStep.WRITE, settings), repeats or 1)
