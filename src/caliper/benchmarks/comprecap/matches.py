"""Match annotated categories with the nouns of a caption (paper 3.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from caliper.core.question import Vector

MICRO = 1_000_000
"""Similarities are compared and stored as whole millionths."""


@dataclass(frozen=True, slots=True)
class Match:
    """The noun that mentions a category, and their similarity in millionths."""

    noun: str
    micro: int


def distinct(words: Iterable[str]) -> tuple[str, ...]:
    """Remove duplicates, keeping the order of first appearance.

    Each distinct word is embedded once: equal words embedded in different batches would differ
    by rounding noise, which could change the maximum of a row or column.
    """
    return tuple(dict.fromkeys(words))


def length(vector: Vector) -> float:
    """Return the Euclidean length of a vector, using an exact sum of squares."""
    return math.sqrt(math.fsum(x * x for x in vector))


def similarity(first: Vector, second: Vector, lengths: float) -> int:
    """Return the cosine of two vectors in millionths; 0 if either is zero.

    `lengths` is the product of their lengths; callers compute each length only once.
    """
    if lengths == 0.0:
        return 0
    product = math.fsum(map(mul, first, second))
    return round(product / lengths * MICRO)


def match(
    nouns: Sequence[str], categories: Sequence[str], vectors: Mapping[str, Vector]
) -> dict[str, Match]:
    """Return the mentioned categories: those that share a row and column maximum with a noun.

    `nouns` and `categories` are distinct, and `vectors` has a vector for each of them. There is
    no threshold, but a similarity of 0 is no match (paper: S' not equal to 0). Ties go to the
    first maximum, as in argmax, so a noun matches at most one category and vice versa.
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
    """Return the exact S_object of an image: matched similarities / number of categories."""
    return Fraction(
        sum(category_match.micro for category_match in matches.values()), MICRO * len(categories)
    )


def mentions(matches: Mapping[str, Match], nouns: Sequence[Sequence[str]]) -> dict[str, set[int]]:
    """Map each mentioned category to the indices of the pieces that mention it.

    `nouns` holds the nouns of each piece. A piece mentions a category if the category's matched
    noun is among the piece's nouns.
    """
    return {
        name: {place for place, words in enumerate(nouns) if category_match.noun in words}
        for name, category_match in matches.items()
    }


def _first_maximum(values: Sequence[int]) -> int:
    return max(range(len(values)), key=values.__getitem__)
