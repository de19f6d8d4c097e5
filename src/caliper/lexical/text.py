"""Parses captions for the rules: sentences, words, meanings, quotations and negations.

Parsing takes a single pass and linear time for any text. The last captions are cached, since there
are several questions about most of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import COMPOUND_STARTS, COMPOUNDS, PARTICLES, concept

# Alternatives begin with different characters and have possessive quantifiers, so that each
# position is examined a bounded number of times.
_PIECE = re.compile(
    r"\w++(?:['\u2019]\w++)*|[,;:()—\u2013]|[.!?]++[\"'”\u2019)\]]*+\s?|[。\uff01\uff1f\n]"
    r'|"[^"\n]{1,300}"|“[^“”\n]{1,300}”|«[^«»\n]{1,300}»|「[^「」\n]{1,300}」|『[^『』\n]{1,300}』'
    r"|(?<!\w)['\u2018][^'\u2018\u2019\n]{1,120}['\u2019](?!\w)"
)
_OPENING = frozenset("\"“«「『'\u2018")
_BREAKS = frozenset(",;:()—\u2013")
_ABBREVIATIONS = word_set("mr mrs ms dr st vs jr sr no fig approx prof")
_CUES = word_set("""
    no not without never none neither nor cannot lack lacks lacking absence devoid isn't aren't
    wasn't weren't doesn't don't didn't can't couldn't won't hasn't haven't
""")
_CONTRASTS = {"rather": "than", "instead": "of"}
_NEGATIONS = _CUES | _CONTRASTS.keys()
_SCOPE_ENDS = word_set("""
    but however though although except in on at with from near by as while which that because
    since where when instead only just is are was were the
""")
_NOUN_CUES = word_set("no without neither nor none absence devoid lack lacks lacking")
_LONGEST_SCOPE = 9
_CACHE_SIZE = 128
_USUAL_LENGTH = 8000
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CaptionText:
    """A parsed text. All sequences except `sentences` have one element per token.

    `words` are lower-case words and clause punctuation, `meanings` their meanings (empty for
    punctuation), `sentence_of` the index of each token's sentence; `quoted` and `negated` mark
    tokens in quotation marks or in the scope of a negation. `sentences` are half-open token
    ranges, `places` the positions of each meaning.
    """

    text: str
    words: tuple[str, ...]
    meanings: tuple[str, ...]
    sentence_of: tuple[int, ...]
    quoted: tuple[bool, ...]
    negated: tuple[bool, ...]
    sentences: tuple[tuple[int, int], ...]
    places: Mapping[str, tuple[int, ...]]

    @property
    def quotes(self) -> tuple[str, ...]:
        """The quoted spans as written."""
        return quotations(self.text)

    def sentence(self, number: int) -> str:
        """The lower-case words of a sentence, joined by spaces; empty if out of range."""
        if not 0 <= number < len(self.sentences):
            return ""
        low, high = self.sentences[number]
        return " ".join(self.words[low:high])

    def spoken(self, number: int, *, negations: bool = False) -> str:
        """A sentence without quotations and, unless `negations`, without negated words."""
        low, high = self.sentences[number]
        return " ".join(
            self.words[at]
            for at in range(low, high)
            if not self.quoted[at] and (negations or not self.negated[at])
        )

    def stated(self, meaning: str) -> tuple[int, ...]:
        """The positions of a meaning outside negations."""
        return tuple(at for at in self.places.get(meaning, ()) if not self.negated[at])


def words_of(text: str) -> list[str]:
    """The lower-case words of a text, without punctuation."""
    return re.findall(r"\w++(?:'\w++)*", text.replace("\u2019", "'").lower())


def plural(word: str) -> bool:
    """Whether a lower-case noun has the form of a plural."""
    return (word.endswith("s") and not word.endswith(("ss", "us", "'s"))) or word in {
        "men", "women", "people", "children", "feet", "teeth", "mice", "geese", "policemen",
    }  # fmt: skip


_Ranges = list[tuple[int, int]]


def _tokens(text: str) -> tuple[list[str], _Ranges, _Ranges]:
    """The tokens of a lower-case text, and the ranges of its quotations and of its sentences."""
    words: list[str] = []
    quotes: _Ranges = []
    sentences: _Ranges = []
    before, start = "", 0
    for piece in _PIECE.findall(text):
        first, last = piece[0], piece[-1]
        if first.isalnum() or first == "_" or first in _BREAKS:
            before = piece.replace("\u2019", "'")
            words.append(before)
            continue
        if first in _OPENING:
            low = len(words)
            words += words_of(piece[1:-1])
            quotes.append((low, len(words)))
            ends = piece[-2] in ".!?"
        elif first in ".!?":
            short = first == "." and (len(before) == 1 or before in _ABBREVIATIONS)
            ends = not short and (last.isspace() or last not in ".!?")
        else:
            ends = True
        if ends and start < len(words):
            sentences.append((start, len(words)))
            start = len(words)
    if start < len(words):
        sentences.append((start, len(words)))
    return words, quotes, sentences


def _compound_meanings(words: list[str]) -> list[str]:
    """The meaning of each word; the second word of a compound gets the compound's meaning.

    The first keeps its own: "coffee cup", "walk out".
    """
    meanings = ["" if word in _BREAKS else concept(word) for word in words]
    for at in range(len(meanings) - 1):
        first = meanings[at]
        if first in COMPOUND_STARTS:
            following = words[at + 1]
            meanings[at + 1] = PARTICLES.get((first, following), meanings[at + 1])
            name = COMPOUNDS.get((first, meanings[at + 1]))
            if name is not None and not following.endswith("ed"):
                meanings[at + 1] = name
    return meanings


def _negations(words: list[str], sentence_of: list[int], quoted: list[bool]) -> list[bool]:
    """Mark the tokens in the scope of a negation: to the end of its clause, at most nine words.

    The negation of a noun ("no cars or people") extends beyond "and"; that of a verb does not.
    Quoted words negate nothing.
    """
    negated = [False] * len(words)
    for at in [at for at, word in enumerate(words) if word in _NEGATIONS]:
        if quoted[at]:
            continue
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else ""
        contrast = _CONTRASTS.get(word) == following
        if (word in _CONTRASTS and not contrast) or following == "only":
            continue
        start = at + 2 if contrast else at + 1
        noun = contrast or word in _NOUN_CUES
        for reached in range(start, min(start + _LONGEST_SCOPE, len(words))):
            here = words[reached]
            if here in _BREAKS or sentence_of[reached] != sentence_of[at]:
                break
            if reached > start and (here in _SCOPE_ENDS or (here == "and" and not noun)):
                break
            negated[reached] = True
    return negated


def matching_labels(
    table: tuple[tuple[str, re.Pattern[str]], ...], sentences: list[str]
) -> tuple[str, ...]:
    """The labels whose pattern matches any of the sentences, in the table's order."""
    return tuple(
        label for label, pattern in table if any(pattern.search(text) for text in sentences)
    )


def cache_recent(function: Callable[[str], Result]) -> Callable[[str], Result]:
    """Cache a function's results for the last texts, except for long ones.

    Memory is thus bounded by a few megabytes, whatever the captions.
    """
    cached = lru_cache(maxsize=_CACHE_SIZE)(function)

    @wraps(function)
    def recall(text: str) -> Result:
        return cached(text) if len(text) <= _USUAL_LENGTH else function(text)

    return recall


@cache_recent
def parse(text: str) -> CaptionText:
    """Parse a caption of any script and length. Never raises; takes linear time."""
    words, quotes, sentences = _tokens(text.lower())
    quoted = [False] * len(words)
    for low, high in quotes:
        quoted[low:high] = [True] * (high - low)
    sentence_of = [number for number, (low, high) in enumerate(sentences) for _ in range(low, high)]
    meanings = _compound_meanings(words)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, meaning in enumerate(meanings):
        if meaning:
            places[meaning].append(at)
    return CaptionText(
        text=text,
        words=tuple(words),
        meanings=tuple(meanings),
        sentence_of=tuple(sentence_of),
        quoted=tuple(quoted),
        negated=tuple(_negations(words, sentence_of, quoted)),
        sentences=tuple(sentences),
        places={meaning: tuple(positions) for meaning, positions in places.items()},
    )


_QUOTATION = re.compile(
    r'"([^"\n]{1,300})"|“([^“”\n]{1,300})”|«([^«»\n]{1,300})»|「([^「」\n]{1,300})」'
    r"|『([^『』\n]{1,300})』|(?<!\w)['\u2018]([^'\u2018\u2019\n]{1,120})['\u2019](?!\w)"
)


def quotations(text: str) -> tuple[str, ...]:
    """The quoted spans of a text as written, without marks, in any quotation style."""
    return tuple("".join(groups).strip() for groups in _QUOTATION.findall(text))
