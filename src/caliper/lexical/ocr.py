"""OCR: does the caption give the annotated text?

protocols.md 1: 1 the text, -1 the text described but different, 0 not described. The rules work
for any script.
"""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz import fuzz

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.text import CaptionText, cache_recent
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import concept

_SAME = 86.0
_SAME_LONG = 80.0
_ALIKE = 52.0
_LONG = 24
_LONGEST = 4000
_WRITING = word_set("""
    sign text word words reads read reading says saying labeled labelled label logo written
    letters spells spelling inscription titled title brand name named printed caption banner
""")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


@cache_recent
def normal(text: str) -> str:
    """Normalise width and case, drop accents, and turn all but letters and digits into spaces."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    letters = [char if char.isalnum() else " " for char in plain if not unicodedata.combining(char)]
    return " ".join("".join(letters).split())


@cache_recent
def _without_spaces(text: str) -> str:
    return normal(text).replace(" ", "")


def _whole_word(needle: str, text: str) -> bool:
    return f" {needle} " in f" {text} "


def judge_text(caption: CaptionText, element: str) -> Judgement:
    """Score annotated text against a caption.

    It is right if the caption contains the normalised text, up to a few letters: as whole words
    if it is short; with or without spaces if it is longer, or of a script without spaces. A
    similar but different quotation is wrong: the caption describes the text but misreads it.
    Anything else is silence.
    """
    annotated = normal(element)
    if not annotated:
        stated = element.strip() != "" and element.strip() in caption.text
        return Judgement(RIGHT if stated else SILENT, f"Looked for {element!r}.")
    caption_text = normal(caption.text[: 50 * _LONGEST])
    compact = annotated.replace(" ", "")
    if _whole_word(annotated, caption_text):
        if _is_ordinary(caption, annotated):
            return Judgement(SILENT, "The caption uses the word, but not as a text.")
        return Judgement(RIGHT, "The caption gives the text.")
    free = len(compact) >= 5 or (_WIDE.search(compact) and len(compact) >= 2)
    if free and compact in _without_spaces(caption.text[: 50 * _LONGEST]):
        return Judgement(RIGHT, "The caption gives the text with other spaces.")
    return _judge_fuzzily(caption, annotated, caption_text)


def _is_ordinary(caption: CaptionText, annotated: str) -> bool:
    """Whether a short text occurs in the caption only as ordinary words: "an open door".

    Not if it is quoted, capitalised within a sentence, or next to a word for writing ("a stop
    sign").
    """
    words = annotated.split()
    if len(words) > 3 or not annotated.isascii() or not annotated.replace(" ", "").isalpha():
        return False
    if any(_whole_word(annotated, normal(quote)) for quote in caption.quotes):
        return False
    pattern = re.compile(r"\b" + r"\W+".join(words) + r"\b", re.IGNORECASE)
    for match in pattern.finditer(caption.text):
        inside = caption.text[max(0, match.start() - 2) : match.start()].strip()
        if match.group()[1:] != match.group()[1:].lower():
            return False
        if match.group()[0].isupper() and inside and inside[-1] not in ".!?":
            return False
    neighbours = {
        word
        for at in caption.places.get(concept(words[-1]), ())
        for word in caption.words[max(0, at - 3) : at + 3]
    }
    return _WRITING.isdisjoint(neighbours)


def _judge_fuzzily(caption: CaptionText, annotated: str, caption_text: str) -> Judgement:
    spans = [span for quote in caption.quotes if (span := normal(quote))]
    whole = " ".join(spans)
    caption_text = caption_text[:_LONGEST]
    best = 0.0
    if len(annotated) >= 5 and caption_text:
        same = _SAME_LONG if len(annotated) > _LONG else _SAME
        best = (
            fuzz.partial_ratio(annotated, caption_text)
            if len(caption_text) >= len(annotated)
            else 0.0
        )
        if best >= same and _same_digits(annotated, caption_text):
            return Judgement(RIGHT, "The caption gives the text but for a few letters.")
        share = _word_share(annotated, caption_text)
        if share >= 0.75 and _same_digits(annotated, caption_text):
            return Judgement(RIGHT, "The caption gives most words of the text.")
        if share >= 0.5 and len(annotated.split()) >= 4:
            return Judgement(WRONG, "The caption gives only a part of the text.")
    like = max((fuzz.ratio(annotated, span) for span in spans), default=0.0)
    if len(annotated) >= 5 and len(whole) >= len(annotated):
        like = max(like, fuzz.partial_ratio(annotated, whole[:_LONGEST]) - 10)
    if like >= _ALIKE + 10 and len(annotated) >= 4:
        return Judgement(WRONG, "The caption gives the text differently.")
    if spans:
        return Judgement(SILENT, "The caption quotes other text.")
    return Judgement(SILENT, "The caption does not give the text.")


def _same_digits(annotated: str, caption_text: str) -> bool:
    """Whether the caption has all numbers of the text: a wrong digit makes another number."""
    present = caption_text.replace(" ", "")
    return all(number in present for number in re.findall(r"\d+", annotated))


def _word_share(annotated: str, caption_text: str) -> float:
    """The share of the text's words, weighted by length, that the caption has."""
    words = annotated.split()
    if len(words) < 2:
        return 0.0
    present = set(caption_text.split())
    return sum(len(word) for word in words if word in present) / sum(map(len, words))
