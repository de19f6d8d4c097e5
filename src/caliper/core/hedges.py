"""Hedges: a caption that states many numbers or colours of one thing, of which one may be right.

"There are 1 or 2 or 3 or 4 dogs", or the same sentence again with another colour. The bounds are
ours: an honest caption is in doubt between two or three.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

COLOURS = frozenset(
    (
        b"amber apricot aqua azure beige black blue bronze brown burgundy charcoal coral cream"
        b" crimson cyan emerald fuchsia gold golden gray green grey indigo ivory khaki lavender"
        b" lilac lime magenta maroon mauve mint mustard navy ochre olive orange peach pink plum"
        b" purple red rose ruby rust salmon scarlet silver tan teal turquoise violet white yellow"
    ).split()
)
NUMBERS = frozenset(
    (
        b"zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        b" fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy"
        b" eighty ninety hundred thousand"
    ).split()
)

_OR_VALUES, _LISTED_VALUES, _SENTENCES = 4, 8, 5
_OR = re.compile(r"\bor\b|/")
_TOKEN = re.compile(r"[a-z]+|[0-9]+")
# Sentences that differ in one word have as many words, and begin or end alike: in so many letters.
_START, _END = 6, 4


def has_hedges(lower: str, words: frozenset[bytes]) -> bool:
    """Whether a lower-case text, whose words are given too, leaves open which of at least 4 values
    is right ("or"), of 8 in a list, or of 5 in sentences that are else the same.
    """
    if len(words & COLOURS) < _OR_VALUES:
        numbers = len(words & NUMBERS)
        if numbers < _OR_VALUES and numbers + _digits(lower.encode()) < _OR_VALUES:
            return False
    for end in "!?;\n":
        lower = lower.replace(end, ".")
    sentences = [sentence.strip() for sentence in lower.split(".")]
    if (b"or" in words or "/" in lower) and any(map(_is_open, sentences)):
        return True
    return _is_repeated(sentences)


def _digits(text: bytes) -> int:
    return len(text) - len(text.translate(None, b"0123456789"))


def _is_colour(token: str) -> bool:
    return token.encode() in COLOURS


def _is_number(token: str) -> bool:
    return token.isdigit() or token.encode() in NUMBERS


def _is_open(sentence: str) -> bool:
    if "or" not in sentence and "/" not in sentence:
        return False
    options = _OR.split(sentence)
    if len(options) == 1 or len(options) + sentence.count(",") < _OR_VALUES:
        return False
    listed = [piece for option in options for piece in option.split(",") if piece.strip()]
    return any(
        _in_turn(options, is_value, _OR_VALUES) or _in_turn(listed, is_value, _LISTED_VALUES)
        for is_value in (_is_colour, _is_number)
    )


def _in_turn(options: Iterable[str], is_value: Callable[[str], bool], many: int) -> bool:
    """Whether options beside each other have so many values, one each."""
    values = set[str]()
    for option in options:
        found = [token for token in _TOKEN.findall(option) if is_value(token)]
        if len(values.union(found[:1])) >= many:
            return True
        is_plain = len(found) == 1 and "," not in option.strip(" ,")
        values = values.union(found) if is_plain else set(found[-1:])
    return False


def _is_repeated(sentences: Sequence[str]) -> bool:
    """Whether sentences differ in nothing but their only value."""
    for edge in (slice(_START), slice(-_END, None)):
        if len(sentences) - len({each[edge] for each in sentences}) < _SENTENCES - 1:
            continue
        alike: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for sentence in sentences:
            alike[sentence[edge], sentence.count(" ")].add(sentence)
        if any(len(each) >= _SENTENCES and _differ_in_value(each) for each in alike.values()):
            return True
    return False


def _differ_in_value(sentences: Iterable[str]) -> bool:
    values: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for sentence in sentences:
        tokens = _TOKEN.findall(sentence)
        found = [token for token in tokens if _is_colour(token) or _is_number(token)]
        if len(found) == 1 and len(tokens) > 2:
            values[tuple(token for token in tokens if token != found[0])].add(found[0])
    return any(len(each) >= _SENTENCES for each in values.values())
