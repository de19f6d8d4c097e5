"""object_category: does the caption name the annotated object?

protocols.md 1: 1 named, -1 other objects are named but not this one, 0 only if the caption
names no object at all.
"""

from __future__ import annotations

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.mentions import mentions, phrase
from caliper.lexical.overlap import blended
from caliper.lexical.text import CaptionText
from caliper.lexical.words import PERSONS, STOPWORDS

_ENOUGH = 0.6
_FEWEST_WORDS = 3


def names_anything(parsed: CaptionText) -> bool:
    """Whether the caption has a few content words, so that it names some thing."""
    told = sum(
        1
        for word, negated in zip(parsed.words, parsed.negated, strict=True)
        if not negated and word not in STOPWORDS and len(word) > 1
    )
    return told >= _FEWEST_WORDS


def judge_object(parsed: CaptionText, element: str) -> Judgement:
    """Score an object: named in any spelling, by a synonym, or as a kind of itself.

    A more general word ("vehicle" for a car) is enough for persons only.
    """
    wanted = phrase(element)
    found = mentions(parsed, wanted)
    somebody = wanted.head in PERSONS and not wanted.modifiers
    if any(mention.credit == 1.0 or somebody for mention in found):
        return Judgement(RIGHT, f"The caption names {element}.")
    if not found and blended(parsed, element) >= _ENOUGH:
        return Judgement(RIGHT, f"The caption names {element} in other words.")
    if not names_anything(parsed):
        return Judgement(SILENT, "The caption names no object.")
    return Judgement(WRONG, f"The caption names other things, not {element}.")
