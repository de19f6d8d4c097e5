"""Annotations of several annotators merged, and one element drawn per medium and dimension.

The paper has a language model merge the lists of three models (3.1); here, texts that are equal
without case, accents, punctuation and articles are the same element.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from caliper.benchmarks.capability.tasks import TASKS, Form
from caliper.building.candidates import Candidate, CandidateDecision
from caliper.building.capability.annotations import has_one_value, text_key
from caliper.building.steps import Fate

MOST_OBJECTS = 11
"""Objects with their numbers per clip: as many as the published data have at most."""


def merge_annotations(candidates: Iterable[Candidate]) -> tuple[Fate, ...]:
    """Keep one candidate per element of a medium and dimension.

    The value that most annotators give stays, the earlier one of a tie. It is accepted if two or
    more gave it and nobody another one; else people review it, with what each annotator said.
    """
    groups: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(_element(candidate), []).append(candidate)
    return tuple(fate for group in groups.values() for fate in _merged(group))


def _element(candidate: Candidate) -> tuple[str, ...]:
    named = (candidate.category, candidate.image, text_key(candidate.question))
    return named if has_one_value(candidate) else (*named, text_key(candidate.answer))


def _merged(group: Sequence[Candidate]) -> list[Fate]:
    votes = Counter(text_key(each.answer) for each in group)
    value, count = votes.most_common(1)[0]
    chosen = next(each for each in group if text_key(each.answer) == value)
    agreed = count == len(group) > 1
    said = tuple(f"{', '.join(each.flags)}: {each.answer}" for each in group)
    kept = Fate(
        replace(chosen, flags=()),
        decision=CandidateDecision.ACCEPT if agreed else CandidateDecision.REVIEW,
        reasons=said if len(group) > 1 else (*said, "one annotator only"),
    )
    return [
        kept
        if each is chosen
        else Fate(each, "same element of another annotator", f"{chosen.answer} stays")
        for each in group
    ]


def draw_elements(fates: Sequence[Fate], seed: int) -> tuple[Fate, ...]:
    """One element per medium and dimension, drawn by `seed` ("One Represents All", paper 3.1).

    Of the objects that a clip shows in several numbers, up to 11 stay, as in the published data.
    The draw depends on nothing but the seed, the medium, the dimension and the element.
    """
    media: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in (fate.candidate for fate in fates):
        media.setdefault((candidate.image, candidate.category), []).append(candidate)
    drawn: set[str] = set()
    for (_, task), elements in media.items():
        most = MOST_OBJECTS if TASKS[task].form is Form.NUMBERS else 1
        ranked = sorted(elements, key=lambda each: _rank(seed, each))
        drawn.update(each.id for each in ranked[:most])
    return tuple(
        fate
        if fate.candidate.id in drawn
        else replace(fate, dropped="another element is drawn", detail=fate.candidate.image)
        for fate in fates
    )


def _rank(seed: int, candidate: Candidate) -> bytes:
    text = "\0".join((str(seed), *_element(candidate)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
