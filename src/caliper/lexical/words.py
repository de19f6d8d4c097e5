"""Words as the rules compare them: stems, one name per meaning, and kinds of things."""

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
"""The credit for a word in a caption that is more general than the annotated one."""

_LONGEST_WORD = 40
_TRADES = (("woman", "woman"), ("women", "woman"), ("man", "man"), ("men", "man"))
_NO_TRADES = vocabulary.word_set("""
    ottoman ottomans snowman snowmen german germany roman human superhuman policeman policemen
    fireman firemen specimen abdomen regimen talisman batman superman spiderman
""")
_POSSESSIVE = re.compile(r"'s$|'$")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word, by a table of irregular forms or the Snowball rules.

    Words of more than 40 characters are cut instead: no rule of language applies to them.
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
    """The name of a lower-case word's meaning: its stem, or that of its most common synonym.

    Trades in -man or -woman ("fisherman") mean a man or a woman.
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
def related_meanings(meaning: str) -> Mapping[str, float]:
    """The meanings in a caption that stand for an annotated one, with their credit (0 to 1).

    The same meaning and its kinds (two levels down) count in full, more general meanings in
    part: "a man" is a person, but "a person" is only partly a man.
    """
    credit_of = {meaning: 1.0}
    for kind in _BELOW.get(meaning, ()):
        credit_of.setdefault(kind, 1.0)
        for special in _BELOW.get(kind, ()):
            credit_of.setdefault(special, 1.0)
    for general in _ABOVE.get(meaning, ()):
        if general not in GENERIC_VERBS:
            credit_of.setdefault(general, MORE_GENERAL)
    if meaning in _GENDERED:
        # "The driver" may be the annotated man.
        for person in related_meanings("person"):
            if person not in _GENDERED:
                credit_of.setdefault(person, MORE_GENERAL)
    return MappingProxyType(credit_of)


def _neighbours(table: str) -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for group in table.split(";"):
        meanings = {concept(word) for word in group.split()}
        for meaning in meanings:
            groups.setdefault(meaning, set()).update(meanings)
    return {meaning: frozenset(others - {meaning}) for meaning, others in groups.items()}


_NEAR_DEEDS = _neighbours(neighbours.DEEDS)
_NEAR_THINGS = _neighbours(neighbours.THINGS)
DEEDS = frozenset(_NEAR_DEEDS) | GENERIC_VERBS


def similar_verbs(meaning: str) -> frozenset[str]:
    """The verbs that may replace a verb in a description ("grab" for "steal")."""
    return _NEAR_DEEDS.get(meaning, frozenset())


def similar_nouns(meaning: str) -> frozenset[str]:
    """The things that may replace a thing in a description though their meaning differs."""
    return _NEAR_THINGS.get(meaning, frozenset())


COMPOUNDS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (concept(pair.split()[0]), concept(pair.split()[1])): concept(name)
        for pair, name in (entry.strip().split("=") for entry in vocabulary.COMPOUNDS.split(";"))
    }
)
"""Two successive meanings, to the meaning that they have together."""

PARTICLES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (concept(pair.split()[0]), pair.split()[1]): concept(name)
        for pair, name in (entry.strip().split("=") for entry in vocabulary.PARTICLES.split(";"))
    }
)
"""A verb's meaning and the particle after it, to the meaning that they have together."""

COMPOUND_STARTS = frozenset(first for first, _ in (*COMPOUNDS, *PARTICLES))
PRONOUNS = tuple(concept(word) for word in ("he", "she", "him", "her", "they", "them"))
PERSONS = frozenset(related_meanings("person"))
STOPWORDS = vocabulary.STOPWORDS
