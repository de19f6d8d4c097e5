"""How far a caption covers an annotated action or event.

A blend of overlaps (overlap.py) that distinguishes verbs from the rest of a text: the first verb
weighs most, words of merely similar meaning (neighbours.py) count in part, and an action counts
less if all its things are far from the verb.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from caliper.lexical.mentions import content
from caliper.lexical.overlap import WeighedText, blend, credits_at, weight
from caliper.lexical.shades import FAMILIES
from caliper.lexical.text import CaptionText, words_of
from caliper.lexical.vocabulary import word_list, word_set
from caliper.lexical.words import (
    DEEDS,
    GENERIC_VERBS,
    PARTICLES,
    PERSONS,
    concept,
    related_meanings,
    similar_nouns,
    similar_verbs,
    stem,
)

_NEAR = 0.5
_MAIN = 1.7
_APART = 0.8
_REACH = 8
_ATTRIBUTE = 0.4
# A caption may omit these and still describe the same event.
_ATTRIBUTES = frozenset(
    concept(word)
    for word in (
        *FAMILIES,
        *word_list("""
            big small tall short long old young new other same happy sad angry bottom top middle
            end finished whole wooden metal little large wearing dressed
        """),
    )
)
_BEFORE_NOUNS = word_set("""
    a an the his her its their my your our this that these those some of in on at with by from
    into onto for no each every one two three four five
""")
_BEFORE_VERBS = word_set("""
    is are to and then who that which can could will would may might must should they both all
    not or also people men women children
""")


@dataclass(frozen=True, slots=True)
class DeedStatement:
    """An annotated action or event: its weighed words and its first verb ("" without one)."""

    words: WeighedText
    main: str


def _is_deed(words: Sequence[str], at: int) -> bool:
    """Whether a word is used as a verb.

    It must be a known verb, not follow an article, and have a verb's ending, an irregular form,
    or a verb's position.
    """
    word, before = words[at], words[at - 1] if at else ""
    if concept(word) not in DEEDS or before in _BEFORE_NOUNS:
        return False
    return (
        not at
        or word.endswith(("s", "ing", "ed"))
        or before in _BEFORE_VERBS
        or before.endswith(("s", "ly"))
        or stem(word)[:3] != word[:3]
    )


def _deeds(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(verb, its meaning with its particle, else the verb again) for each verb, in order."""
    for at, word in enumerate(words):
        if _is_deed(words, at):
            verb = concept(word)
            following = words[at + 1] if at + 1 < len(words) else ""
            yield verb, PARTICLES.get((verb, following), verb)


@lru_cache(maxsize=2048)
def weigh_statement(text: str, *, verb_first: bool) -> DeedStatement:
    """Weigh an annotated sentence or, with `verb_first`, an action ("slices bread")."""
    deeds = list(_deeds(words_of(text)))
    meanings = content(text)
    first = next((meaning for meaning in meanings if meaning not in PERSONS), "")
    if verb_first and first and not any(first in deed for deed in deeds):
        deeds.insert(0, (first, first))
    weights = {meaning: _weight(meaning) for meaning in meanings}
    accepted = {meaning: _credits(meaning) for meaning in meanings}
    for verb, phrasal in deeds:
        if phrasal != verb:
            weights.pop(verb, None)
            accepted.pop(verb, None)
        weights[phrasal] = weight(phrasal)
        accepted[phrasal] = _verb_credits(phrasal, verb)
    main = next((deed for _, deed in deeds if deed not in GENERIC_VERBS), "")
    if not main and verb_first and deeds:
        main = deeds[0][1]
    if main:
        weights[main] = _MAIN
    total = sum(weights.values())
    return DeedStatement(
        WeighedText(MappingProxyType(weights), MappingProxyType(accepted), total), main
    )


def _weight(meaning: str) -> float:
    return _ATTRIBUTE if meaning in _ATTRIBUTES else weight(meaning)


def _verb_credits(meaning: str, verb: str) -> Mapping[str, float]:
    near = dict.fromkeys((verb, *sorted(similar_verbs(meaning))), _NEAR)
    return MappingProxyType({**near, meaning: 1.0})


def _credits(meaning: str) -> Mapping[str, float]:
    near = dict.fromkeys(sorted(similar_nouns(meaning)), _NEAR)
    return MappingProxyType({**near, **related_meanings(meaning)})


def event_coverage(caption: CaptionText, text: str) -> float:
    """How far (0 to 1) the caption covers an annotated sentence."""
    weighed = weigh_statement(text, verb_first=False).words
    return blend(weighed, credits_at(caption, weighed))


def action_coverage(caption: CaptionText, text: str) -> float:
    """How far (0 to 1) the caption covers an annotated action.

    It counts less if none of the things involved is near a word for the action.
    """
    statement = weigh_statement(text, verb_first=True)
    overlap = blend(statement.words, credits_at(caption, statement.words))
    return overlap if _adjacent(caption, statement) else overlap * _APART


def _adjacent(caption: CaptionText, statement: DeedStatement) -> bool:
    """Whether a thing of the annotation is within eight words of its first verb.

    True if the annotation has no such thing, or the caption no word for the verb.
    """
    weights = statement.words.weights
    things = [meaning for meaning in weights if meaning != statement.main and weights[meaning] >= 1]
    deeds = _places(caption, statement, statement.main) if statement.main else []
    if not things or not deeds:
        return True
    for thing in things:
        for at in _places(caption, statement, thing):
            after = bisect_left(deeds, at)
            if any(abs(at - deed) <= _REACH for deed in deeds[max(0, after - 1) : after + 1]):
                return True
    return False


def _places(caption: CaptionText, statement: DeedStatement, meaning: str) -> list[int]:
    return sorted(
        at for stated in statement.words.accepted[meaning] for at in caption.stated(stated)
    )
