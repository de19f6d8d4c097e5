"""Parses captions for the rules: sentences, words, meanings, quotations and negations.

Parsing takes a single pass and linear time for any text. The last captions are cached, since there
are several questions about most of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import COMPOUND_STARTS, COMPOUNDS, PARTICLE_STARTS, PARTICLES, concept

# Alternatives begin with different characters and have possessive quantifiers, so that each
# position is examined a bounded number of times.
_PIECE = re.compile(
    r'"[^"\n]{1,300}"|“[^“”\n]{1,300}”|«[^«»\n]{1,300}»|「[^「」\n]{1,300}」|『[^『』\n]{1,300}』'
    r"|(?<!\w)['\u2018][^'\u2018\u2019\n]{1,120}['\u2019](?!\w)"
    r"|\w++(?:['\u2019]\w++)*+|[,;:()—\u2013]|[.!?]++[\"'”\u2019)\]]*+\s?|[。\uff01\uff1f\n]"
)
_OPENING = frozenset("\"“«「『'\u2018")
_BREAKS = frozenset(",;:()—\u2013")
_ABBREVIATIONS = word_set("mr mrs ms dr st vs jr sr no fig approx prof")
_CUES = word_set("""
    no not without never none neither nor cannot lack lacks lacking absence devoid isn't aren't
    wasn't weren't doesn't don't didn't can't couldn't won't hasn't haven't
""")
_CONTRASTS = {"rather": "than", "instead": "of"}
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
    """A parsed text. All sequences except `sentences` and `quotes` have one element per token.

    `words` are lower-case words and clause punctuation, `meanings` their meanings (empty for
    punctuation), `sentence_of` the index of each token's sentence; `quoted` and `negated` mark
    tokens in quotation marks or in the scope of a negation. `sentences` are half-open token
    ranges, `places` the positions of each meaning, `quotes` the quoted spans as written.
    """

    text: str
    words: tuple[str, ...]
    meanings: tuple[str, ...]
    sentence_of: tuple[int, ...]
    quoted: tuple[bool, ...]
    negated: tuple[bool, ...]
    sentences: tuple[tuple[int, int], ...]
    places: Mapping[str, tuple[int, ...]]
    quotes: tuple[str, ...]

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
    return re.findall(r"\w++(?:'\w++)*+", text.replace("\u2019", "'").lower())


def plural(word: str) -> bool:
    """Whether a lower-case noun has the form of a plural."""
    return (word.endswith("s") and not word.endswith(("ss", "us", "'s"))) or word in {
        "men", "women", "people", "children", "feet", "teeth", "mice", "geese", "policemen",
    }  # fmt: skip


def _tokens(text: str) -> Iterator[tuple[str, bool, bool]]:
    """(token, quoted, ends a sentence) in order; the token of a sentence end is empty."""
    before = ""
    for piece in _PIECE.findall(text):
        first = piece[0]
        if first in _OPENING:
            for word in words_of(piece[1:-1]):
                yield word, True, False
            if piece[-2] in ".!?":
                yield "", False, True
        elif first in ".!?":
            last = piece[-1]
            short = first == "." and (len(before) == 1 or before in _ABBREVIATIONS)
            if not short and (last.isspace() or last not in ".!?"):
                yield "", False, True
        elif first in "。\uff01\uff1f\n":
            yield "", False, True
        else:
            before = piece.replace("\u2019", "'")
            yield before, False, False


def _compound_meanings(words: list[str]) -> list[str]:
    """The meaning of each word; the second word of a compound gets the compound's meaning.

    The first keeps its own: "coffee cup", "walk out".
    """
    meanings = ["" if word in _BREAKS else concept(word) for word in words]
    for at in range(len(meanings) - 1):
        if meanings[at] in PARTICLE_STARTS:
            name = PARTICLES.get((meanings[at], words[at + 1]))
            if name is not None:
                meanings[at + 1] = name
        if meanings[at] in COMPOUND_STARTS:
            name = COMPOUNDS.get((meanings[at], meanings[at + 1]))
            if name is not None and not words[at + 1].endswith("ed"):
                meanings[at + 1] = name
    return meanings


def _negations(words: list[str], sentence_of: list[int], quoted: list[bool]) -> list[bool]:
    """Mark the tokens in the scope of a negation: to the end of its clause, at most nine words.

    The negation of a noun ("no cars or people") extends beyond "and"; that of a verb does not.
    Quoted words negate nothing.
    """
    negated = [False] * len(words)
    for at, word in enumerate(words):
        if (word not in _CUES and word not in _CONTRASTS) or quoted[at]:
            continue
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


def matching(
    table: tuple[tuple[str, re.Pattern[str]], ...], sentences: list[str]
) -> tuple[str, ...]:
    """The labels whose pattern matches any of the sentences, in the table's order."""
    return tuple(
        label for label, pattern in table if any(pattern.search(text) for text in sentences)
    )


def remembered(function: Callable[[str], Result]) -> Callable[[str], Result]:
    """Cache a function's results for the last texts, except for long ones.

    Memory is thus bounded by a few megabytes, whatever the captions.
    """
    cached = lru_cache(maxsize=_CACHE_SIZE)(function)

    @wraps(function)
    def recall(text: str) -> Result:
        return cached(text) if len(text) <= _USUAL_LENGTH else function(text)

    return recall


@remembered
def parse(text: str) -> CaptionText:
    """Parse a caption of any script and length. Never raises; takes linear time."""
    words: list[str] = []
    quoted: list[bool] = []
    sentence_of: list[int] = []
    ends: list[int] = []
    for token, in_quotes, ending in _tokens(text.lower()):
        if ending:
            if words and (not ends or ends[-1] < len(words)):
                ends.append(len(words))
            continue
        words.append(token)
        quoted.append(in_quotes)
        sentence_of.append(len(ends))
    if words and (not ends or ends[-1] < len(words)):
        ends.append(len(words))
    meanings = _compound_meanings(words)
    places: dict[str, list[int]] = {}
    for at, meaning in enumerate(meanings):
        if meaning:
            places.setdefault(meaning, []).append(at)
    return CaptionText(
        text=text,
        words=tuple(words),
        meanings=tuple(meanings),
        sentence_of=tuple(sentence_of),
        quoted=tuple(quoted),
        negated=tuple(_negations(words, sentence_of, quoted)),
        sentences=tuple(zip([0, *ends[:-1]], ends, strict=True)) if ends else (),
        places={meaning: tuple(positions) for meaning, positions in places.items()},
        quotes=quotations(text),
    )


_QUOTATION = re.compile(
    r'"([^"\n]{1,300})"|“([^“”\n]{1,300})”|«([^«»\n]{1,300})»|「([^「」\n]{1,300})」'
    r"|『([^『』\n]{1,300})』|(?<!\w)['\u2018]([^'\u2018\u2019\n]{1,120})['\u2019](?!\w)"
)


def quotations(text: str) -> tuple[str, ...]:
    """The quoted spans of a text as written, without marks, in any quotation style."""
    return tuple("".join(groups).strip() for groups in _QUOTATION.findall(text))
