"""Examine an item: ask its questions and turn the replies into verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import Settings, fence, lacks_caption
from caliper.benchmarks.capability.answers import open_answer_right, read_choice, right_letter
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.benchmarks.capability.reading import ReplyValue, read_labels, read_score
from caliper.benchmarks.capability.settings import setting_value
from caliper.benchmarks.capability.tasks import NOT_STATED, TASKS, Form, Task
from caliper.benchmarks.exchanges import UNREADABLE, Reader, Reading, Result, examine_each
from caliper.core.outcome import Evidence, Reason, Scored, Unscored
from caliper.core.question import Ask, Decoding, Examination, Item, Question, Source
from caliper.core.report import Generation

DECODING = Decoding(max_tokens=512)
CORRECT, WRONG, NOT_MENTIONED = Fraction(1), Fraction(-1), Fraction(0)
MEDIA_WRONG = Fraction(0)
_MEDIA_PROMPTS = ("qa_choice", "qa_open")


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask everything about the item at once, and retry unreadable replies once.

    A missing caption makes its questions Unscored(no_caption), without a call. A blank one scores
    0 (not mentioned), also without a call, unless the settings leave it unscored. The published
    judge replies to blank captions agree.
    """

    def settle(question: Question[Any], repeat: int) -> Ask | Result:
        if item.source is Source.MEDIA or (caption or "").strip():
            return _ask(item, question, repeat, caption or "", settings)
        why = Evidence(explanation="there is no caption" if caption is None else "it is blank")
        if lacks_caption(item, caption, settings):
            return Unscored(Reason.NO_CAPTION), why
        return Scored(NOT_MENTIONED, mentioned=False), why

    return examine_each(item, settle, reader(settings), reader(settings, truncated=True))


def _ask(item: Item, question: Question[Any], repeat: int, caption: str, settings: Settings) -> Ask:
    payload = question.payload
    if isinstance(payload, MediaQuestion):
        prompt, fields, schema = _media_request(payload)
    else:
        prompt, fields, schema = _caption_request(payload, caption, settings)
    return Ask(
        item,
        question,
        repeat,
        f"capability/{prompt}",
        fields,
        DECODING,
        schema,
        untrusted="caption" if "caption" in fields else "",
        fence=fence(settings, caption),
    )


def generation(source: Source, settings: Settings, repeats: int | None) -> Generation:
    """Return the templates and decoding that `examine` uses, over all tasks.

    Questions about the media are asked once.
    """
    names: tuple[str, ...] = _MEDIA_PROMPTS
    if source is Source.CAPTION:
        names = tuple(_prompt(task, settings) for task in TASKS.values())
    times = 1 if source is Source.MEDIA else repeats or 1
    return Generation(tuple(f"capability/{name}" for name in names), DECODING, times)


def _prompt(task: Task, settings: Settings) -> str:
    several = task.form is Form.CATEGORY and setting_value(settings, "category_labels") == "any"
    return f"{task.name}_labels" if several else task.name


def _media_request(
    payload: MediaQuestion,
) -> tuple[str, Mapping[str, str], Mapping[str, Any] | None]:
    fields = {"question": payload.question, "options": "\n".join(payload.options)}
    choice, free = _MEDIA_PROMPTS
    return (choice if payload.options else free), fields, None


def _caption_request(
    payload: ElementQuestion, caption: str, settings: Settings
) -> tuple[str, Mapping[str, str], Mapping[str, Any]]:
    task = TASKS[payload.task]
    if task.form is not Form.CATEGORY:
        fields = {"caption": caption, "object": payload.object, "element": payload.element}
        copied, score = {"type": "string"}, {"enum": ["-1", "0", "1"]}
        return task.name, fields, _object({task.name: copied, "score": score})
    fields = {
        "caption": caption,
        # Fig. A3 prints the list in Python notation.
        "categories": str(list(task.labels)),
        "explanations": "\n".join(category.line for category in task.categories),
    }
    label: dict[str, Any] = {"enum": [*task.labels, NOT_STATED.upper()]}
    if setting_value(settings, "category_labels") == "any":
        label = {"type": "array", "items": label, "minItems": 1}
    return _prompt(task, settings), fields, _object({"pred": label})


def _object(answer: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the JSON schema of a reply (Fig. A3): the answer and the judge's reason.

    A server that enforces it writes exactly these properties, in this order.
    """
    return {
        "type": "object",
        "properties": {**answer, "reason": {"type": "string"}},
        "required": [*answer, "reason"],
    }


def reader(settings: Settings, *, truncated: bool = False) -> Reader:
    """Return the function that reads the score from a reply under these settings.

    With `truncated`, from replies that were cut at the token limit.
    """
    lenient = setting_value(settings, "reply_reading") == "lenient"
    several = setting_value(settings, "category_labels") == "any"

    def read(ask: Ask, text: str) -> Reading:
        payload = ask.question.payload
        if isinstance(payload, MediaQuestion):
            return _read_media(payload, text, lenient=lenient, truncated=truncated)
        if TASKS[payload.task].form is Form.CATEGORY:
            known = TASKS[payload.task].labels
            labels = read_labels(text, known, lenient=lenient, truncated=truncated)
            return _read_category(payload, labels, several=several)
        score = read_score(text, lenient=lenient, truncated=truncated)
        if score is None:
            return Reading(UNREADABLE)
        return Reading(Scored(Fraction(score.value)), score.reason, score.repaired)

    return read


def _read_category(
    payload: ElementQuestion, reply: ReplyValue[tuple[str, ...]] | None, *, several: bool
) -> Reading:
    if reply is None:
        return Reading(UNREADABLE)
    score = category_score(payload.element, reply.value, several=several)
    labels = len(set(reply.value)) if score != NOT_MENTIONED else 0
    return Reading(Scored(score, labels=labels), reply.reason, reply.repaired)


def category_score(annotated: str, labels: tuple[str, ...], *, several: bool) -> Fraction:
    """Score the categories that the judge found in a caption.

    N/A, alone or among others, means not mentioned. With `several` (released script), it is
    right if any label is the annotated category; otherwise (Fig. A3) if the annotated category
    is the only label.
    """
    if NOT_STATED in labels:
        return NOT_MENTIONED
    right = annotated in labels if several else set(labels) == {annotated}
    return CORRECT if right else WRONG


def _read_media(payload: MediaQuestion, text: str, *, lenient: bool, truncated: bool) -> Reading:
    if not text.strip():
        return Reading(UNREADABLE)
    if not payload.options:
        right = open_answer_right(payload.task, payload.answer, text)
        return Reading(Scored(CORRECT if right else MEDIA_WRONG))
    choice = read_choice(text, payload.options, lenient=lenient, truncated=truncated)
    if choice is None:
        return Reading(UNREADABLE)
    right = choice.letter == right_letter(payload.answer, payload.options)
    return Reading(Scored(CORRECT if right else MEDIA_WRONG), repaired=choice.repaired)
