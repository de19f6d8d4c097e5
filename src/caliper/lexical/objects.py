"""object_category: does the caption name the annotated object?

protocols.md 1: 1 if it does, -1 if it names only other objects, 0 if it names no object at all.
"""

from __future__ import annotations

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.mentions import mentions, phrase
from caliper.lexical.overlap import blended_score
from caliper.lexical.text import CaptionText
from caliper.lexical.words import PERSONS, STOPWORDS

_ENOUGH = 0.6
_FEWEST_WORDS = 3


def names_anything(caption: CaptionText) -> bool:
    """Whether the caption has enough content words to name anything."""
    content_words = sum(
        1
        for word, negated in zip(caption.words, caption.negated, strict=True)
        if not negated and word not in STOPWORDS and len(word) > 1
    )
    return content_words >= _FEWEST_WORDS


def judge_object(caption: CaptionText, element: str) -> Judgement:
    """Score an object: any spelling, a synonym or a kind of it is right.

    A more general word ("vehicle" for a car) suffices only for persons.
    """
    annotated = phrase(element)
    matches = mentions(caption, annotated)
    is_person = annotated.head in PERSONS and not annotated.modifiers
    if any(mention.credit == 1.0 or is_person for mention in matches):
        return Judgement(RIGHT, f"The caption names {element}.")
    if not matches and blended_score(caption, element) >= _ENOUGH:
        return Judgement(RIGHT, f"The caption names {element} in other words.")
    if not names_anything(caption):
        return Judgement(SILENT, "The caption names no object.")
    return Judgement(WRONG, f"The caption names other things, not {element}.")
