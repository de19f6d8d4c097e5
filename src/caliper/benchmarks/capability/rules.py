"""The lexical judge: each question goes to the rules of its task."""

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
    "object_category": lambda caption, asked: objects.judge_object(caption, asked.element),
    "object_number": lambda caption, asked: numbers.judge_number(
        caption, asked.element, asked.object
    ),
    "object_color": lambda caption, asked: colours.judge_colour(
        caption, asked.element, asked.object
    ),
    "spatial_relation": lambda caption, asked: spatial.judge_relation(caption, asked.element),
    "scene": lambda caption, asked: scenes.judge_scene(caption, asked.element),
    "OCR": lambda caption, asked: ocr.judge_text(caption, asked.element),
    "character_identification": lambda caption, asked: names.judge_name(caption, asked.element),
    "dynamic_object_number": lambda caption, asked: numbers.judge_number(
        caption, asked.element, asked.object
    ),
    "action": lambda caption, asked: events.judge_action(caption, asked.element),
    "event": lambda caption, asked: events.judge_event(caption, asked.element),
}
_CATEGORY: Mapping[str, Callable[[CaptionText], Labels]] = {
    "camera_angle": angles.read_angle,
    "style": style.read_style,
    "camera_movement": movements.read_movement,
}


def reply_to(ask: Ask) -> Answer:
    """The JSON object that the judge would reply."""
    return judge(ask.question.payload, ask.fields["caption"])


def judge(asked: ElementQuestion, text: str) -> Answer:
    """The reply about a caption."""
    caption = parse(text)
    if asked.task in _CATEGORY:
        return Reply(category_reply(_CATEGORY[asked.task](caption)))
    if asked.task not in _OPEN:
        return Failure(Reason.NO_REPLY, f"no rules for the task {asked.task!r}")
    annotation = f"{{{asked.object}: {asked.element}}}" if asked.object else asked.element
    return Reply(open_reply(asked.task, annotation, _OPEN[asked.task](caption, asked)))
