"""Words as rules compare them: stems, one name a meaning, and what is a kind of what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

# The package ships no types.
from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

from caliper.lexical import neighbours, vocabulary
from caliper.lexical.synonyms import SYNONYMS

MORE_GENERAL = 0.6
"""The credit for a caption's word that is more general than the annotated one."""

_LONGEST_WORD = 40
_TRADES = (("woman", "woman"), ("women", "woman"), ("man", "man"), ("men", "man"))
_NO_TRADES = vocabulary.word_set("""
    ottoman ottomans snowman snowmen german germany roman human superhuman policeman policemen
    fireman firemen specimen abdomen regimen talisman batman superman spiderman
""")
_POSSESSIVE = re.compile(r"'s$|'$")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word; irregular forms first, then the Snowball rules.

    Words of more than 40 characters are cut, not stemmed: no language rule applies to them.
    """
    word = _POSSESSIVE.sub("", word)
    if len(word) > _LONGEST_WORD:
        return word[:_LONGEST_WORD]
    word = vocabulary.IRREGULAR.get(word, word)
    if word in vocabulary.KEPT:
        return vocabulary.KEPT[word]
    return str(EnglishStemmer().stemWord(word))


def _meanings() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in SYNONYMS.splitlines():
        name, *others = (stem(word) for word in line.split())
        name = table.get(name, name)
        table.setdefault(name, name)
        for other in others:
            table.setdefault(other, name)
    return table


_MEANING: Mapping[str, str] = MappingProxyType(_meanings())


@lru_cache(maxsize=65536)
def concept(word: str) -> str:
    """The name of a lower-case word's meaning: its stem, or that of its commonest synonym.

    A trade that ends in -man or -woman ("fisherman") means a man or a woman.
    """
    for ending, person in _TRADES:
        if word.endswith(ending) and len(word) >= len(ending) + 4 and word not in _NO_TRADES:
            return person
    stemmed = stem(word)
    return _MEANING.get(stemmed, stemmed)


def _kinds() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    below: dict[str, dict[str, None]] = {}
    above: dict[str, dict[str, None]] = {}
    for entry in vocabulary.KINDS.split(";"):
        general, special = entry.strip().split(":")
        for word in special.split():
            below.setdefault(concept(general), {})[concept(word)] = None
            above.setdefault(concept(word), {})[concept(general)] = None
    return (
        {name: tuple(kinds) for name, kinds in below.items()},
        {name: tuple(kinds) for name, kinds in above.items()},
    )


_BELOW, _ABOVE = _kinds()
GENERIC_VERBS = frozenset(concept(word) for word in vocabulary.GENERIC_VERBS)


_GENDERED = frozenset(("man", "woman", "boy", "girl"))


@lru_cache(maxsize=2048)
def related(meaning: str) -> Mapping[str, float]:
    """The meanings in a caption that stand for an annotated one, with their credit (0 to 1).

    The same meaning and its kinds (two levels down) count in full, what is more general in
    part: "a man" tells of a person, "a person" only in part of a man.
    """
    held = {meaning: 1.0}
    for kind in _BELOW.get(meaning, ()):
        held.setdefault(kind, 1.0)
        for special in _BELOW.get(kind, ()):
            held.setdefault(special, 1.0)
    for general in _ABOVE.get(meaning, ()):
        if general not in GENERIC_VERBS:
            held.setdefault(general, MORE_GENERAL)
    if meaning in _GENDERED:
        # "The driver" may be the annotated man.
        for person in related("person"):
            if person not in _GENDERED:
                held.setdefault(person, MORE_GENERAL)
    return MappingProxyType(held)


def _neighbours(table: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in table.split(";"):
        meanings = {concept(word) for word in group.split()}
        for meaning in meanings:
            found.setdefault(meaning, set()).update(meanings)
    return {meaning: frozenset(others - {meaning}) for meaning, others in found.items()}


_NEAR_DEEDS = _neighbours(neighbours.DEEDS)
_NEAR_THINGS = _neighbours(neighbours.THINGS)
DEEDS = frozenset(_NEAR_DEEDS) | GENERIC_VERBS


def near_deeds(meaning: str) -> frozenset[str]:
    """The doings that may stand for a doing in a telling ("grab" for "steal")."""
    return _NEAR_DEEDS.get(meaning, frozenset())


def near_things(meaning: str) -> frozenset[str]:
    """What may stand for a thing in a telling though it does not mean the same."""
    return _NEAR_THINGS.get(meaning, frozenset())


COMPOUNDS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (concept(pair.split()[0]), concept(pair.split()[1])): concept(name)
        for pair, name in (entry.strip().split("=") for entry in vocabulary.COMPOUNDS.split(";"))
    }
)
"""Two meanings in a row that together have the meaning of one word."""

PARTICLES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (concept(pair.split()[0]), pair.split()[1]): concept(name)
        for pair, name in (entry.strip().split("=") for entry in vocabulary.PARTICLES.split(";"))
    }
)
"""A verb's meaning and the particle behind it to what they mean together."""

COMPOUND_STARTS = frozenset(first for first, _ in COMPOUNDS)
PARTICLE_STARTS = frozenset(first for first, _ in PARTICLES)
PRONOUNS = tuple(concept(word) for word in ("he", "she", "him", "her", "they", "them"))
PERSONS = frozenset(related("person"))
STOPWORDS = vocabulary.STOPWORDS
