"""A noun tagger by rules: closed classes, endings, and the words on either side.

A substitute for a trained tagger that needs no model. It reads words from left to right. Lists
define closed-class words; the preceding word decides whether a possible verb is one; a describing
word is an adjective unless it ends a noun phrase; everything else is a noun, the open class that no
list can cover. Reports name the tagger.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from caliper.core.run import Identity
from caliper.lexical import lemmas, tagger_words
from caliper.lexical.lemmas import singular
from caliper.lexical.revision import TAGGER, revision, word_lists
from caliper.lexical.tagger_words import (
    ADJECTIVES,
    CLOSED,
    ED_NOUNS,
    EITHER,
    ING_NOUNS,
    LY_ADJECTIVES,
    LY_NOUNS,
    SUFFIX_NOUNS,
    SUFFIXES,
    VERBS,
    WordKind,
)

_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d[\d,.:/]*\w*|[^\w\s]")
_KIND_OF = {word: kind for kind, words in CLOSED.items() for word in words}
_NOMINAL = (WordKind.DETERMINER, WordKind.NUMBER, WordKind.ADJECTIVE)
_ENDS_PHRASE = frozenset(
    {
        WordKind.DETERMINER,
        WordKind.PREPOSITION,
        WordKind.TO,
        WordKind.CONJUNCTION,
        WordKind.PRONOUN,
        WordKind.AUXILIARY,
        WordKind.VERB,
        WordKind.ADVERB,
    }
)


# Pronouns that a noun may follow: openers of clauses, and objects.
_OPENERS = frozenset(("there", "here", "that", "who", "whom", "us", "them", "him", "me", "ones"))
_MODALS = frozenset(
    (
        "can",
        "could",
        "will",
        "would",
        "shall",
        "should",
        "may",
        "might",
        "must",
        "cannot",
        "did",
        "does",
        "do",
    )
)
# Closed-class words that end a noun phrase after a determiner: the inside, a half.
_PARTS = frozenset(("inside", "outside", "past", "half", "second"))


class RuleTagger:
    """Finds nouns by rules over words: deterministic and without a model."""

    @property
    def identity(self) -> Identity:
        """Kind lexical; the revision is that of the rules."""
        return Identity("lexical", "noun-rules", _revision())

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The nouns of each text: lower-cased lemmas in order, repeats kept."""
        return [nouns(text) for text in texts]


def nouns(text: str) -> tuple[str, ...]:
    """The nouns of a text: lower-cased lemmas in order, repeats kept."""
    tokens = _TOKEN.findall(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").lower())
    return tuple(singular(word) for word, kind in _tag(tokens) if kind is WordKind.NOUN)


@dataclass(frozen=True, slots=True)
class _Place:
    """A word, the kind and text of the word before it, and the text of the word after it.

    `counted` tells that a number precedes the phrase, which has no plural yet.
    """

    word: str
    before: WordKind
    previous: str
    following: str
    counted: bool

    @property
    def goes_on(self) -> bool:
        """Whether the next word can continue a noun phrase."""
        if not self.following or not self.following[0].isalpha():
            return False
        ends = _KIND_OF.get(self.following) in _ENDS_PHRASE
        return not ends and not _is_adverb(self.following)

    @property
    def third_person(self) -> bool:
        """Whether the word, if it is a verb, is in the third person singular."""
        return self.word.endswith("s") and not self.word.endswith("ss")


def _tag(tokens: Sequence[str]) -> Iterator[tuple[str, WordKind]]:
    before, previous, counted = WordKind.START, "", False
    for token, following in pairwise([*tokens, ""]):
        possessive = token.endswith("'s") and token not in _KIND_OF
        word = token.removesuffix("'s") if possessive else token
        place = _Place(word, before, previous, following, counted)
        kind = next(kind for rule in _RULES if (kind := rule(place)) is not None)
        yield word, kind
        # Adverbs do not separate the words around them; a possessive is a determiner.
        if kind is not WordKind.ADVERB:
            before, previous = (WordKind.DETERMINER if possessive else kind), word
        if kind is WordKind.NUMBER:
            counted = word not in ("one", "1")
        elif kind in _ENDS_PHRASE or (kind is WordKind.NOUN and singular(word) != word):
            counted = False


def _sign(at: _Place) -> WordKind | None:
    if at.word[0].isalpha():
        return WordKind.ADJECTIVE if len(at.word) == 1 and at.word not in _KIND_OF else None
    return WordKind.NUMBER if at.word[0].isdigit() else WordKind.CONJUNCTION


def _closed(at: _Place) -> WordKind | None:
    kind = _KIND_OF.get(at.word)
    if kind is WordKind.VERB and at.before in _NOMINAL and not at.goes_on:
        return WordKind.NOUN  # a set of, the lead
    if at.word == "that" and at.before is not WordKind.NOUN and at.goes_on:
        return WordKind.DETERMINER
    if at.word in _PARTS and at.before is WordKind.DETERMINER:
        return WordKind.ADJECTIVE if at.goes_on else WordKind.NOUN
    return kind


def _predicate(at: _Place) -> WordKind | None:
    """A word after a subject pronoun or a modal verb is the verb."""
    if at.before is WordKind.PRONOUN and at.previous not in _OPENERS:
        return None if _is_descriptive(at.word) or _is_adverb(at.word) else WordKind.VERB
    modal = at.before is WordKind.AUXILIARY and at.previous in _MODALS
    return WordKind.VERB if modal else None


def _adverb(at: _Place) -> WordKind | None:
    return WordKind.ADVERB if _is_adverb(at.word) else None


def _adjective(at: _Place) -> WordKind | None:
    if not _is_descriptive(at.word):
        return None
    ends = at.word in EITHER and not at.goes_on and at.before is not WordKind.AUXILIARY
    return WordKind.NOUN if ends else WordKind.ADJECTIVE


def _participle(at: _Place) -> WordKind | None:
    """A participle describes after a determiner and before a noun; elsewhere it is a verb."""
    present = at.word.endswith("ing") and len(at.word) > 4 and at.word not in ING_NOUNS
    past = at.word.endswith("ed") and len(at.word) > 3 and at.word not in ED_NOUNS
    if not present and not past:
        return None
    return WordKind.ADJECTIVE if at.before in _NOMINAL and at.goes_on else WordKind.VERB


def _open(at: _Place) -> WordKind:
    return WordKind.VERB if _is_verb(at.word) and _is_used_as_verb(at) else WordKind.NOUN


def _is_used_as_verb(at: _Place) -> bool:
    """Whether a possible verb is one, judged by the preceding word."""
    if at.before is WordKind.NOUN:
        # "People walk", "a dog sits"; but in "a tennis play", the last word is a noun.
        plural = singular(at.previous) != at.previous or at.previous in ("people", "police")
        if at.third_person and at.counted:
            return False  # four lattice towers
        return at.third_person or plural or at.goes_on
    if at.before in (WordKind.CONJUNCTION, WordKind.VERB):
        # "Runs and catches a ball", "looks and smiles".
        has_object = _KIND_OF.get(at.following) in (
            WordKind.DETERMINER,
            WordKind.PREPOSITION,
            WordKind.TO,
        )
        return has_object or (at.third_person and at.following not in (",", "and", "or"))
    if at.before in (WordKind.TO, WordKind.START):
        return not at.third_person
    return at.before in (WordKind.PRONOUN, WordKind.AUXILIARY)


_RULES: tuple[Callable[[_Place], WordKind | None], ...] = (
    _sign,
    _closed,
    _predicate,
    _adverb,
    _adjective,
    _participle,
    _open,
)
"""Tried in this order; the first rule that returns a kind decides."""


def _is_adverb(word: str) -> bool:
    if not word.endswith("ly") or len(word) < 4:
        return False
    return word not in LY_NOUNS and word not in LY_ADJECTIVES


def _is_descriptive(word: str) -> bool:
    """Whether the word is an adjective by list, by comparison, by ending, or as a compound."""
    if word in ADJECTIVES or word in EITHER or word in LY_ADJECTIVES:
        return True
    if "-" in word:
        return _is_descriptive_compound(word)
    if word in SUFFIX_NOUNS:
        return False
    if len(word) > 5 and word.endswith(SUFFIXES):
        return True
    return any(stem in ADJECTIVES for stem in _positive_forms(word))


def _is_descriptive_compound(word: str) -> bool:
    """Whether a compound is an adjective: two-story, well-lit, snow-covered, wood-like."""
    first, _, last = word.rpartition("-")
    if (
        last in ADJECTIVES
        or _KIND_OF.get(first) is WordKind.NUMBER
        or _KIND_OF.get(last) is WordKind.VERB
    ):
        return True
    participle = last.endswith(("ed", "ing")) and last not in ING_NOUNS and last not in ED_NOUNS
    return participle or last in ("like", "style")


def _positive_forms(word: str) -> Iterator[str]:
    """The possible positive forms of a comparative or superlative: large, big, happy."""
    for ending in ("er", "est"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            yield from (stem, stem + "e", stem[:-1])
            if stem.endswith("i"):
                yield stem[:-1] + "y"


@lru_cache(maxsize=16_384)
def _is_verb(word: str) -> bool:
    if word in VERBS:
        return True
    if not word.endswith("s"):
        return False
    stems = {word[:-1]}
    if word.endswith("es"):
        stems.add(word[:-2])
    if word.endswith("ies"):
        stems.add(word[:-3] + "y")
    return bool(stems & VERBS)


@lru_cache(maxsize=1)
def _revision() -> str:
    lists = word_lists((lemmas, tagger_words, sys.modules[__name__]))
    return revision(TAGGER, lists, _TOKEN.pattern)
