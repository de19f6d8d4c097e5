"""OCR: does the caption give the annotated text?

protocols.md 1: 1 the text, -1 the text described but different, 0 not described. Any
script: nothing here knows letters of its own.
"""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz import fuzz

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.text import CaptionText, remembered
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


@remembered
def normal(text: str) -> str:
    """Letters and digits in one width and case, accents dropped, other runs one space."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    kept = [char if char.isalnum() else " " for char in plain if not unicodedata.combining(char)]
    return " ".join("".join(kept).split())


@remembered
def _squeezed(text: str) -> str:
    return normal(text).replace(" ", "")


def _whole_word(needle: str, text: str) -> bool:
    return f" {needle} " in f" {text} "


def judge_text(parsed: CaptionText, element: str) -> Judgement:
    """Score annotated text against a caption.

    The normalised text as a part of the caption is right: as whole words when it is short,
    with or without spaces when it is longer or of a script without spaces; so is one that
    differs in a few letters. A quotation that is like it but not it is wrong: the caption
    describes that text and misreads it. Anything else is silence.
    """
    wanted = normal(element)
    if not wanted:
        stated = element.strip() != "" and element.strip() in parsed.text
        return Judgement(RIGHT if stated else SILENT, f"Looked for {element!r}.")
    said = normal(parsed.text[: 50 * _LONGEST])
    squeezed = wanted.replace(" ", "")
    if _whole_word(wanted, said):
        if _only_words(parsed, wanted):
            return Judgement(SILENT, "The caption uses the word, but not as a text.")
        return Judgement(RIGHT, "The caption gives the text.")
    free = len(squeezed) >= 5 or (_WIDE.search(squeezed) and len(squeezed) >= 2)
    if free and squeezed in _squeezed(parsed.text[: 50 * _LONGEST]):
        return Judgement(RIGHT, "The caption gives the text with other spaces.")
    return _fuzzy(parsed, wanted, said)


def _only_words(parsed: CaptionText, wanted: str) -> bool:
    """Whether a text of a few words stands in the caption as ordinary words: "an open door".

    It does unless it is quoted, begins with a capital inside a sentence, or stands beside
    a word for writing ("a stop sign").
    """
    words = wanted.split()
    if len(words) > 3 or not wanted.isascii() or not wanted.replace(" ", "").isalpha():
        return False
    if any(_whole_word(wanted, normal(quote)) for quote in parsed.quotes):
        return False
    written = re.compile(r"\b" + r"\W+".join(words) + r"\b", re.IGNORECASE)
    for found in written.finditer(parsed.text):
        inside = parsed.text[max(0, found.start() - 2) : found.start()].strip()
        if found.group()[1:] != found.group()[1:].lower():
            return False
        if found.group()[0].isupper() and inside and inside[-1] not in ".!?":
            return False
    beside = {
        word
        for at in parsed.places.get(concept(words[-1]), ())
        for word in parsed.words[max(0, at - 3) : at + 3]
    }
    return _WRITING.isdisjoint(beside)


def _fuzzy(parsed: CaptionText, wanted: str, said: str) -> Judgement:
    spans = [span for quote in parsed.quotes if (span := normal(quote))]
    whole = " ".join(spans)
    said = said[:_LONGEST]
    best = 0.0
    if len(wanted) >= 5 and said:
        same = _SAME_LONG if len(wanted) > _LONG else _SAME
        best = fuzz.partial_ratio(wanted, said) if len(said) >= len(wanted) else 0.0
        if best >= same and _same_digits(wanted, said):
            return Judgement(RIGHT, "The caption gives the text but for a few letters.")
        kept = _kept(wanted, said)
        if kept >= 0.75 and _same_digits(wanted, said):
            return Judgement(RIGHT, "The caption gives most words of the text.")
        if kept >= 0.5 and len(wanted.split()) >= 4:
            return Judgement(WRONG, "The caption gives only a part of the text.")
    like = max((fuzz.ratio(wanted, span) for span in spans), default=0.0)
    if len(wanted) >= 5 and len(whole) >= len(wanted):
        like = max(like, fuzz.partial_ratio(wanted, whole[:_LONGEST]) - 10)
    if like >= _ALIKE + 10 and len(wanted) >= 4:
        return Judgement(WRONG, "The caption gives the text differently.")
    if spans:
        return Judgement(SILENT, "The caption quotes other text.")
    return Judgement(SILENT, "The caption does not give the text.")


def _same_digits(wanted: str, said: str) -> bool:
    """Whether the caption has every number of the text: one wrong digit is another number."""
    present = said.replace(" ", "")
    return all(number in present for number in re.findall(r"\d+", wanted))


def _kept(wanted: str, said: str) -> float:
    """The share of the text's words, counted by letters, that the caption has."""
    words = wanted.split()
    if len(words) < 2:
        return 0.0
    present = set(said.split())
    return sum(len(word) for word in words if word in present) / sum(map(len, words))
