"""Which annotated categories a caption mentions, and through which nouns (paper 3.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from caliper.core.question import Vector

MICRO = 1_000_000
"""Similarities are compared and kept as whole millionths."""


@dataclass(frozen=True, slots=True)
class Match:
    """The noun through which a category is mentioned, and their similarity in millionths."""

    noun: str
    micro: int


def distinct(words: Iterable[str]) -> tuple[str, ...]:
    """Each word once, in the order of first appearance.

    Each distinct word is embedded once: embedded twice, in batches of different make-up, equal
    words would differ by rounding noise, and the maximum of a row or column with them.
    """
    return tuple(dict.fromkeys(words))


def length(vector: Vector) -> float:
    """The Euclidean length of a vector, its squares added up exactly."""
    return math.sqrt(math.fsum(x * x for x in vector))


def similarity(first: Vector, second: Vector, lengths: float) -> int:
    """The cosine of two vectors in millionths; 0 when one of them is zero.

    `lengths` is the product of their lengths, which a matrix of similarities computes once.
    """
    if lengths == 0.0:
        return 0
    product = math.fsum(map(mul, first, second))
    return round(product / lengths * MICRO)


def match(
    nouns: Sequence[str], categories: Sequence[str], vectors: Mapping[str, Vector]
) -> dict[str, Match]:
    """The mentioned categories: those that share a row and column maximum with a noun.

    `nouns` and `categories` are distinct, `vectors` has one vector for each of them. There is
    no threshold; a similarity of 0 is no match (paper: S' not equal to 0). Of equal maxima the
    first stands, like argmax, so a noun matches one category at most and the other way round.
    """
    if not nouns:
        return {}
    long = {word: length(vectors[word]) for word in (*nouns, *categories)}
    rows = [
        [similarity(vectors[noun], vectors[name], long[noun] * long[name]) for name in categories]
        for noun in nouns
    ]
    best_category = [_first_maximum(row) for row in rows]
    matches = {}
    for place, name in enumerate(categories):
        column = [row[place] for row in rows]
        noun = _first_maximum(column)
        if best_category[noun] == place and column[noun] != 0:
            matches[name] = Match(nouns[noun], column[noun])
    return matches


def object_score(categories: Sequence[str], matches: Mapping[str, Match]) -> Fraction:
    """S_object of one image, exact: the matched similarities over the number of categories."""
    return Fraction(
        sum(category_match.micro for category_match in matches.values()), MICRO * len(categories)
    )


def mentions(matches: Mapping[str, Match], nouns: Sequence[Sequence[str]]) -> dict[str, set[int]]:
    """For each mentioned category the places of the pieces that mention it.

    `nouns` are those of each piece. A piece mentions a category when the noun that the category
    is matched with is among its nouns.
    """
    return {
        name: {place for place, words in enumerate(nouns) if category_match.noun in words}
        for name, category_match in matches.items()
    }


def _first_maximum(values: Sequence[int]) -> int:
    return max(range(len(values)), key=values.__getitem__)
