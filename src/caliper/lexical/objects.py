"""object_category: does the caption name the annotated object?

protocols.md 1: 1 named, -1 other objects are named but not this one, 0 only if the caption
names no object at all.
"""

from __future__ import annotations

from caliper.lexical.finding import RIGHT, SILENT, WRONG, Finding
from caliper.lexical.mentions import mentions, phrase
from caliper.lexical.overlap import blended
from caliper.lexical.text import Parsed
from caliper.lexical.words import PERSONS, STOPWORDS

_ENOUGH = 0.6
_FEWEST_WORDS = 3


def names_anything(parsed: Parsed) -> bool:
    """Whether the caption has a few content words, so that it names some thing."""
    told = sum(
        1
        for word, negated in zip(parsed.words, parsed.negated, strict=True)
        if not negated and word not in STOPWORDS and len(word) > 1
    )
    return told >= _FEWEST_WORDS


def judge_object(parsed: Parsed, element: str) -> Finding:
    """Score an object: named in any spelling, by a synonym, or as a kind of itself.

    A more general word ("vehicle" for a car) is enough for persons only.
    """
    found = mentions(parsed, phrase(element))
    if any(mention.credit == 1.0 or parsed.meanings[mention.head] in PERSONS for mention in found):
        return Finding(RIGHT, f"The caption names {element}.")
    if not found and blended(parsed, element) >= _ENOUGH:
        return Finding(RIGHT, f"The caption names {element} in other words.")
    if not names_anything(parsed):
        return Finding(SILENT, "The caption names no object.")
    return Finding(WRONG, f"The caption names other things, not {element}.")
