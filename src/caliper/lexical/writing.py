"""OCR: does the caption give the annotated text?

protocols.md 1: 1 the text, -1 the text described but different, 0 not described. Any
script: nothing here knows letters of its own.
"""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz import fuzz

from caliper.lexical.finding import RIGHT, SILENT, WRONG, Finding
from caliper.lexical.text import Parsed, remembered
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


def judge_text(parsed: Parsed, element: str) -> Finding:
    """Score annotated text against a caption.

    The normalised text as a part of the caption is right: as whole words when it is short,
    with or without spaces when it is longer or of a script without spaces; so is one that
    differs in a few letters. A quotation that is like it but not it is wrong: the caption
    describes that text and misreads it. Anything else is silence.
    """
    wanted = normal(element)
    if not wanted:
        stated = element.strip() != "" and element.strip() in parsed.text
        return Finding(RIGHT if stated else SILENT, f"Looked for {element!r}.")
    said = normal(parsed.text[: 50 * _LONGEST])
    squeezed = wanted.replace(" ", "")
    if _whole_word(wanted, said):
        if _only_a_word(parsed, element, wanted):
            return Finding(SILENT, "The caption uses the word, but not as a text.")
        return Finding(RIGHT, "The caption gives the text.")
    free = len(squeezed) >= 5 or (_WIDE.search(squeezed) and len(squeezed) >= 2)
    if free and squeezed in _squeezed(parsed.text[: 50 * _LONGEST]):
        return Finding(RIGHT, "The caption gives the text with other spaces.")
    return _fuzzy(parsed, wanted, said)


def _only_a_word(parsed: Parsed, element: str, wanted: str) -> bool:
    """Whether a one-word text stands in the caption as an ordinary word: "an open door".

    It does unless it is quoted, begins with a capital inside a sentence, or stands beside
    a word for writing ("a stop sign").
    """
    if " " in wanted or not wanted.isascii() or not wanted.isalpha():
        return False
    if any(_whole_word(wanted, normal(quote)) for quote in parsed.quotes):
        return False
    if re.search(
        rf"[a-z,:] {re.escape(element.strip()[:1].upper())}(?i:{wanted[1:]})\b", parsed.text
    ):
        return False
    for at in parsed.places.get(concept(wanted), ()):
        beside = parsed.words[max(0, at - 3) : at + 3]
        if not _WRITING.isdisjoint(beside):
            return False
    return True


def _fuzzy(parsed: Parsed, wanted: str, said: str) -> Finding:
    spans = [span for quote in parsed.quotes if (span := normal(quote))]
    whole = " ".join(spans)
    said = said[:_LONGEST]
    best = 0.0
    if len(wanted) >= 5 and said:
        same = _SAME_LONG if len(wanted) > _LONG else _SAME
        best = fuzz.partial_ratio(wanted, said) if len(said) >= len(wanted) else 0.0
        if best >= same and _same_digits(wanted, said):
            return Finding(RIGHT, "The caption gives the text but for a few letters.")
        kept = _kept(wanted, said)
        if kept >= 0.75 and _same_digits(wanted, said):
            return Finding(RIGHT, "The caption gives most words of the text.")
        if kept >= 0.5 and len(wanted.split()) >= 4:
            return Finding(WRONG, "The caption gives only a part of the text.")
    like = max((fuzz.ratio(wanted, span) for span in spans), default=0.0)
    if len(wanted) >= 5 and len(whole) >= len(wanted):
        like = max(like, fuzz.partial_ratio(wanted, whole[:_LONGEST]) - 10)
    if like >= _ALIKE + 10 and len(wanted) >= 4:
        return Finding(WRONG, "The caption gives the text differently.")
    if spans:
        return Finding(SILENT, "The caption quotes other text.")
    return Finding(SILENT, "The caption does not give the text.")


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
