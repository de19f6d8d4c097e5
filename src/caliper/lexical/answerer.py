"""The model-free Answerer: every question to the rules of its dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import version
from types import ModuleType

from caliper.benchmarks.capability.payloads import ElementQuestion
from caliper.benchmarks.captionqa.payloads import ChoiceQuestion
from caliper.benchmarks.comprecap.payloads import PhraseQuestion
from caliper.core.outcome import Reason
from caliper.core.question import Answer, Ask, Failure, Reply, Source
from caliper.core.run import Identity
from caliper.lexical import (
    angles,
    colours,
    counts,
    events,
    finding,
    mentions,
    movements,
    names,
    near,
    numbers,
    objects,
    overlap,
    phrases,
    reader,
    scenes,
    shades,
    spatial,
    style,
    synonyms,
    telling,
    text,
    vocabulary,
    words,
    writing,
)
from caliper.lexical.finding import Finding, Labels, category_reply, open_reply
from caliper.lexical.revision import ANSWERER, revision, word_lists
from caliper.lexical.text import Parsed, parse

_RULES: tuple[ModuleType, ...] = (
    angles, colours, counts, events, finding, mentions, movements, names, near, numbers, objects,
    overlap, phrases, reader, scenes, shades, spatial, style, synonyms, telling, text, vocabulary,
    words, writing,
)  # fmt: skip

_OPEN: Mapping[str, Callable[[Parsed, ElementQuestion], Finding]] = {
    "object_category": lambda caption, asked: objects.judge_object(caption, asked.element),
    "object_number": lambda caption, asked: numbers.judge_number(
        caption, asked.element, asked.object
    ),
    "object_color": lambda caption, asked: colours.judge_colour(
        caption, asked.element, asked.object
    ),
    "spatial_relation": lambda caption, asked: spatial.judge_relation(caption, asked.element),
    "scene": lambda caption, asked: scenes.judge_scene(caption, asked.element),
    "OCR": lambda caption, asked: writing.judge_text(caption, asked.element),
    "character_identification": lambda caption, asked: names.judge_name(caption, asked.element),
    "dynamic_object_number": lambda caption, asked: numbers.judge_number(
        caption, asked.element, asked.object
    ),
    "action": lambda caption, asked: events.judge_action(caption, asked.element),
    "event": lambda caption, asked: events.judge_event(caption, asked.element),
}
_CATEGORY: Mapping[str, Callable[[Parsed], Labels]] = {
    "camera_angle": angles.read_angle,
    "style": style.read_style,
    "camera_movement": movements.read_movement,
}


@lru_cache(maxsize=1)
def _revision() -> str:
    libraries = [version("snowballstemmer"), version("rapidfuzz")]
    return revision(ANSWERER, word_lists(_RULES), libraries)


def _judge(asked: ElementQuestion, fields: Mapping[str, str]) -> Answer:
    caption = parse(fields["caption"])
    if asked.task in _CATEGORY:
        return Reply(category_reply(_CATEGORY[asked.task](caption)))
    if asked.task not in _OPEN:
        return Failure(Reason.NO_REPLY, f"no rules for the task {asked.task!r}")
    annotation = f"{{{asked.object}: {asked.element}}}" if asked.object else asked.element
    return Reply(open_reply(asked.task, annotation, _OPEN[asked.task](caption, asked)))


def _read(asked: ChoiceQuestion, fields: Mapping[str, str]) -> Answer:
    letter = reader.choose(parse(fields["caption"]), asked.question, asked.shown)
    return Reply(letter)


def _rate(_: PhraseQuestion, fields: Mapping[str, str]) -> Answer:
    return Reply(str(phrases.rate_phrase(parse(fields["sentence"]), fields["phrase"])))


class LexicalAnswerer:
    """Judges and reads by rules over words: no model, the same answer every time.

    For smoke runs and trends, never for comparison with published figures.
    """

    @property
    def identity(self) -> Identity:
        """Kind lexical; the revision is that of the rules. Replies are not cached."""
        return Identity(kind="lexical", name="lexical-rules", revision=_revision())

    async def answer(self, ask: Ask) -> Answer:
        """The reply an LLM would give in form: JSON, a letter, or a digit.

        A question that needs the picture is a Failure: there is nothing to read rules on.
        """
        return reply_to(ask)

    async def close(self) -> None:
        """Nothing is held open."""


def reply_to(ask: Ask) -> Answer:
    """`LexicalAnswerer.answer` without an event loop."""
    asked = ask.question.payload
    if isinstance(asked, ElementQuestion):
        return _judge(asked, ask.fields)
    if ask.item.source is Source.MEDIA:
        return Failure(Reason.NO_REPLY, "rules over words cannot look at the picture")
    if isinstance(asked, ChoiceQuestion):
        return _read(asked, ask.fields)
    if isinstance(asked, PhraseQuestion):
        return _rate(asked, ask.fields)
    return Failure(Reason.NO_REPLY, "rules over words cannot look at the picture")
