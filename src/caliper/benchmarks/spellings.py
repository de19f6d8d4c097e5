"""Normalize words for comparison: case, numbers, plurals, British and American spelling (ours)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"[0-9]++(?>(?:[.,:][0-9]+)*)(?!\w)|[^\W_]+(?:['\u2019][^\W_]+)*")
_NUMBERS = (  # noqa: SIM905 - twenty quoted strings are harder to read
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen twenty"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS)}
_DIGITS |= {word: str(number * 10) for number, word in enumerate(_TENS, start=2)}
_UNITS = frozenset("123456789")
_MULTIPLES = r"(?:(?:hundred|thousand|million|billion|dozen)s?|thirds)"
_NUMBER_BEFORE = re.compile(
    rf"\b(?:{_MULTIPLES}(?:\sand)?|{'|'.join(_DIGITS)})[\s\u2010\u2011-]\Z", re.IGNORECASE
)
# "Two five-litre jugs" are two.
_NUMBER_BEHIND = re.compile(
    rf"[\s\u2010\u2011-](?:{_MULTIPLES}|{'|'.join(_DIGITS)})\b(?!-)", re.IGNORECASE
)
_LONGEST_NUMBER_WORD = 16
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
    """Split a text into words. Numbers keep only their digits; "twenty-two" is one word."""
    words: list[SpelledWord] = []
    for match in _TOKEN.finditer(text):
        start, end, word = *match.span(), _normalized(match[0])
        if words and match[0].isalpha() and word in _UNITS and _is_ten(words[-1], start, text):
            ten = words.pop()
            start, word = ten.start, f"{ten.word[0]}{word}"
        words.append(SpelledWord(word, text[start:end], start, end))
    return words


def _is_ten(word: SpelledWord, next_start: int, text: str) -> bool:
    """Whether the word is "twenty", "thirty" and so on, right before the next one."""
    between = text[word.end : next_start]
    return word.spelling.casefold() in _TENS and between in (" ", "-", "\u2010", "\u2011")


def is_part_of_number(words: Sequence[SpelledWord], first: int, last: int, text: str) -> bool:
    """Whether the words from `first` to `last` are part of a longer number: "two hundred"."""
    start, end = words[first].start, words[last].end
    continues = words[first].word.isdigit() and _NUMBER_BEFORE.search(
        text, max(0, start - _LONGEST_NUMBER_WORD), start
    )
    return bool(continues or (words[last].word.isdigit() and _NUMBER_BEHIND.match(text, end)))


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
