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

_OPEN: Mapping[str, Callable[[CaptionText, str], Judgement]] = {
    "object_category": objects.judge_object,
    "spatial_relation": spatial.judge_relation,
    "scene": scenes.judge_scene,
    "OCR": ocr.judge_text,
    "character_identification": names.judge_name,
    "action": events.judge_action,
    "event": events.judge_event,
}
_OF_OBJECT: Mapping[str, Callable[[CaptionText, str, str], Judgement]] = {
    "object_number": numbers.judge_number,
    "object_color": colours.judge_colour,
    "dynamic_object_number": numbers.judge_number,
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
    return judge_parsed(question, parse(text))


def judge_parsed(question: ElementQuestion, caption: CaptionText) -> Answer:
    """Judge a caption and return the reply."""
    if question.task in _CATEGORY:
        return Reply(category_reply(_CATEGORY[question.task](caption)))
    if question.task in _OF_OBJECT:
        judgement = _OF_OBJECT[question.task](caption, question.element, question.object)
    elif question.task in _OPEN:
        judgement = _OPEN[question.task](caption, question.element)
    else:
        return Failure(Reason.NO_REPLY, f"no rules for the task {question.task!r}")
    annotation = (
        f"{{{question.object}: {question.element}}}" if question.object else question.element
    )
    return Reply(open_reply(question.task, annotation, judgement))
