"""Normalize words for comparison: case, numbers, plurals, British and American spelling (ours)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"[0-9]++(?>(?:[.,:][0-9]+)*)(?!\w)|[^\W_]+(?:['\u2019][^\W_]+)*")
_NUMBERS = (  # noqa: SIM905 - twenty quoted strings are harder to read
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen twenty"
).split()
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS)}
_ENDINGS = (
    (re.compile(r"(?<=[a-z]{3})our(?=s?$|ed$|ful$|ing$)"), "or"),
    (re.compile(r"(?<=[a-z]{3})is(?=(?:e[sd]?|ing|ations?)$)"), "iz"),
    (re.compile(r"(?<=[a-z]{2})tre(?=s?$)"), "ter"),
)
_VARIANTS = {
    "grey": "gray",
    "tyre": "tire",
    "aluminium": "aluminum",
    "pyjamas": "pajamas",
    "moustache": "mustache",
    "jewellery": "jewelry",
    "doughnut": "donut",
    "whisky": "whiskey",
    "catalogue": "catalog",
    "cheque": "check",
    "storey": "story",
    "plough": "plow",
}


@dataclass(frozen=True, slots=True)
class SpelledWord:
    """A word of a text: its normalized form, its original spelling, and its offsets."""

    word: str
    spelling: str
    start: int
    end: int


def tokens(text: str) -> list[SpelledWord]:
    """Split a text into words. Single letters keep their case; numbers keep only their digits."""
    words = []
    for match in _TOKEN.finditer(text):
        spelling = match[0]
        words.append(SpelledWord(_normalized(spelling), spelling, match.start(), match.end()))
    return words


def _normalized(text: str) -> str:
    word = text.casefold().replace("\u2019", "'")
    if word[0].isdigit():
        return _number(word)
    if len(word) > 4:
        for british, american in _ENDINGS:
            word = british.sub(american, word)
    return _DIGITS.get(word) or _VARIANTS.get(word, word)


def _number(text: str) -> str:
    if ":" in text or text.count(".") > 1:
        return text
    whole, _, part = re.sub(r",(?=[0-9]{3}(?![0-9]))", "", text).replace(",", ".").partition(".")
    return f"{whole}.{part.rstrip('0')}".rstrip(".")


def singular(word: str) -> str:
    """Strip the plural or possessive ending of a word."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    plural = len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return word[:-1] if plural else word.removesuffix("'s")


_VERB_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|e)\Z")
_DOUBLE_CONSONANT = re.compile(r"([b-df-hj-np-tv-z])\1\Z")


def stem(word: str) -> str:
    """Strip the plural or verb ending of a word, so that "running" and "runs" match."""
    return _DOUBLE_CONSONANT.sub(r"\1", _VERB_ENDING.sub("", singular(word)))
