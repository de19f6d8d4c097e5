"""The lexical judge: dispatch each question to the rules of its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from caliper.benchmarks.capability.questions import ElementQuestion
from caliper.core.outcome import Reason
from caliper.core.question import Answer, Ask, Failure, Reply
from caliper.lexical import (
    angles,
    colours,
    events,
    movements,
    names,
    numbers,
    objects,
    ocr,
    scenes,
    spatial,
    style,
)
from caliper.lexical.judgements import Judgement, Labels, category_reply, open_reply
from caliper.lexical.text import CaptionText, parse

_OPEN: Mapping[str, Callable[[CaptionText, ElementQuestion], Judgement]] = {
    "object_category": lambda caption, question: objects.judge_object(caption, question.element),
    "object_number": lambda caption, question: numbers.judge_number(
        caption, question.element, question.object
    ),
    "object_color": lambda caption, question: colours.judge_colour(
        caption, question.element, question.object
    ),
    "spatial_relation": lambda caption, question: spatial.judge_relation(caption, question.element),
    "scene": lambda caption, question: scenes.judge_scene(caption, question.element),
    "OCR": lambda caption, question: ocr.judge_text(caption, question.element),
    "character_identification": lambda caption, question: names.judge_name(
        caption, question.element
    ),
    "dynamic_object_number": lambda caption, question: numbers.judge_number(
        caption, question.element, question.object
    ),
    "action": lambda caption, question: events.judge_action(caption, question.element),
    "event": lambda caption, question: events.judge_event(caption, question.element),
}
_CATEGORY: Mapping[str, Callable[[CaptionText], Labels]] = {
    "camera_angle": angles.read_angle,
    "style": style.read_style,
    "camera_movement": movements.read_movement,
}


def reply_to(ask: Ask) -> Answer:
    """Reply to an ask with the JSON object that a judge would give."""
    return judge(ask.question.payload, ask.fields["caption"])


def judge(question: ElementQuestion, text: str) -> Answer:
    """Judge the caption `text` and return the reply."""
    caption = parse(text)
    if question.task in _CATEGORY:
        return Reply(category_reply(_CATEGORY[question.task](caption)))
    if question.task not in _OPEN:
        return Failure(Reason.NO_REPLY, f"no rules for the task {question.task!r}")
    annotation = (
        f"{{{question.object}: {question.element}}}" if question.object else question.element
    )
    return Reply(open_reply(question.task, annotation, _OPEN[question.task](caption, question)))
