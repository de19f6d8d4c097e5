"""Near duplicates among the questions of a picture (paper 4.3.3).

A graph of mutual nearest neighbours gives groups, groups that are not cohesive are split, and the
medoid of each group stays. The paper prints no numbers; these are the released script's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from caliper.building.candidates import Candidate
from caliper.building.steps import Fate
from caliper.core.question import Vector
from caliper.lexical.text import words_of
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import concept

_IDLE = word_set("""
    a an the what which is are was were be do does did have has had of it its this that there ? . ,
""")
Similarities = npt.NDArray[np.float64]
Group = tuple[int, ...]
SIMILARITY, COHESION = 0.90, 0.85
ANOTHER_ANSWER = "a near duplicate has another answer"


@dataclass(frozen=True, slots=True)
class GroupingOptions:
    """Questions are near duplicates from a cosine of `similarity`, if each is among the other's
    `neighbours` nearest. In a group, no two may be less similar than `cohesion`.
    """

    similarity: float = SIMILARITY
    cohesion: float = COHESION
    neighbours: int = 10


def text_of(candidate: Candidate) -> str:
    """The text to embed: the question and its options."""
    return "\n".join((candidate.question, *candidate.choices))


def subject(candidate: Candidate) -> tuple[str, ...]:
    """The subject of a question: the meanings of its words, in order, without function words."""
    return tuple(concept(word) for word in words_of(candidate.question) if word not in _IDLE)


def drop_duplicates(
    candidates: Sequence[Candidate],
    vectors: Mapping[str, Vector],
    options: GroupingOptions,
    *,
    by_spelling: bool = False,
) -> tuple[Fate, ...]:
    """Drop all but the medoid of each group of near duplicates of a picture.

    `vectors` are the embeddings of `text_of`, by candidate. If they compare only spelling,
    questions with different subjects are not duplicates: "How many cups?" is spelled much like
    "How many cats?", with the same options.
    """
    by_image: dict[str, list[int]] = {}
    for place, candidate in enumerate(candidates):
        by_image.setdefault(candidate.image, []).append(place)
    fates = [Fate(candidate) for candidate in candidates]
    for places in by_image.values():
        similar = similarities([vectors[candidates[place].id] for place in places])
        if by_spelling:
            subjects = [subject(candidates[place]) for place in places]
            similar *= [[one == other for other in subjects] for one in subjects]
        for group in groups_of(similar, options):
            best = places[medoid(similar, group)]
            for member in group:
                if (place := places[member]) != best:
                    detail = f"like {candidates[best].id}: {candidates[best].question}"
                    fates[place] = Fate(candidates[place], "near duplicate", detail)
            members = [candidates[places[member]] for member in group]
            fates[best] = Fate(_flagged(candidates[best], members))
    return tuple(fates)


def _flagged(best: Candidate, members: Sequence[Candidate]) -> Candidate:
    if all(member.answer.casefold() == best.answer.casefold() for member in members):
        return best
    return replace(best, flags=tuple(dict.fromkeys((*best.flags, ANOTHER_ANSWER))))


def similarities(vectors: Sequence[Vector]) -> Similarities:
    """The cosines of all pairs, to 6 decimals, so that no order depends on rounding."""
    matrix = np.array(vectors, dtype=np.float64)
    norms = np.maximum(np.sqrt((matrix * matrix).sum(axis=1, keepdims=True)), 1e-12)
    unit = matrix / norms
    cosines: Similarities = np.round(np.einsum("ik,jk->ij", unit, unit), 6)
    return cosines


def groups_of(similar: Similarities, options: GroupingOptions) -> list[Group]:
    """The disjoint groups of two or more near duplicates."""
    groups: list[Group] = []
    pending = _components(_mutual(similar, options))
    while pending:
        group = pending.pop(0)
        if any(float(similar[pair]) < options.cohesion for pair in combinations(group, 2)):
            pending += _split(similar, group)
        else:
            groups.append(group)
    return [group for group in _merge(similar, groups, options) if len(group) > 1]


def _mutual(similar: Similarities, options: GroupingOptions) -> npt.NDArray[np.bool_]:
    """The pairs that are among each other's nearest, and similar enough."""
    size = len(similar)
    others = similar.copy()
    np.fill_diagonal(others, -np.inf)
    nearest = np.zeros((size, size), dtype=bool)
    order = np.argsort(-others, axis=1, kind="stable")[:, : min(options.neighbours, size - 1)]
    nearest[np.arange(size)[:, None], order] = True
    mutual: npt.NDArray[np.bool_] = nearest & nearest.T & (others >= options.similarity)
    return mutual


def _components(linked: npt.NDArray[np.bool_]) -> list[Group]:
    seen: set[int] = set()
    components = []
    for start in range(len(linked)):
        if start in seen:
            continue
        pending, members = [start], {start}
        while pending:
            for neighbour in map(int, np.flatnonzero(linked[pending.pop()])):
                if neighbour not in members:
                    members.add(neighbour)
                    pending.append(neighbour)
        seen |= members
        components.append(tuple(sorted(members)))
    return components


def _split(similar: Similarities, group: Group) -> list[Group]:
    """Two groups around the least similar pair."""
    first, second = min(combinations(group, 2), key=lambda pair: (similar[pair], pair))
    near = tuple(each for each in group if similar[each, first] >= similar[each, second])
    return [near, tuple(each for each in group if each not in near)]


def _merge(similar: Similarities, groups: list[Group], options: GroupingOptions) -> list[Group]:
    """Merge groups if all their members are similar: with many neighbours, few are mutual."""
    merged = sorted(groups)
    place = 0
    while place < len(merged):
        group = merged[place]
        other = next(
            (
                other
                for other in merged[place + 1 :]
                if all(similar[a, b] >= options.similarity for a in group for b in other)
            ),
            None,
        )
        if other is None:
            place += 1
        else:
            merged.remove(other)
            merged[place] = tuple(sorted(group + other))
    return merged


def medoid(similar: Similarities, group: Group) -> int:
    """The member that is most similar to the others; the first of several."""
    return max(group, key=lambda each: (round(sum(similar[each, list(group)]), 6), -each))
