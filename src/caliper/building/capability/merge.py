"""Annotations of several annotators merged, and one element drawn per medium and dimension.

In the paper, a language model merges the lists of three models (3.1). Here, texts that are equal
without case, accents, punctuation and articles are the same element, and so are synonyms that a
model finds, if there is one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from caliper.benchmarks.capability.tasks import TASKS, Form
from caliper.building.candidates import Candidate, CandidateDecision
from caliper.building.capability.annotations import has_one_value, text_key
from caliper.building.steps import Fate

MOST_OBJECTS = 11
"""Objects with their numbers per clip: as many as the published data have at most."""


MOST_NAMES = 500
"""Names of a list that a model merges; longer lists are merged by rules only."""
Element = tuple[str, ...]
"""The key of an element: candidates with the same key are merged. It ends with the name."""


def lists_to_merge(candidates: Iterable[Candidate]) -> dict[str, dict[str, list[str]]]:
    """The names of elements by medium and dimension, where several annotators gave several."""
    names: dict[tuple[str, str], dict[Element, str]] = {}
    annotators: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for each in candidates:
        place = each.image, each.category
        names.setdefault(place, {}).setdefault(_element(each), _name(each))
        annotators.setdefault(place, set()).add(each.flags)
    lists: dict[str, dict[str, list[str]]] = {}
    for (image, category), own in names.items():
        if 1 < len(own) <= MOST_NAMES and len(annotators[image, category]) > 1:
            lists.setdefault(image, {})[category] = list(own.values())
    return lists


def same_elements(
    candidates: Iterable[Candidate], synonyms: Iterable[Candidate]
) -> dict[Element, Element]:
    """The first element of its group for each synonym (`read_synonyms`).

    A name counts only if an annotator gave it and no earlier group has it. It does not count if
    its annotator also listed an earlier name of the group: to that annotator, they are two
    elements.
    """
    known: dict[tuple[str, str, str], Element] = {}
    annotators: dict[Element, set[str]] = {}
    for each in candidates:
        element = _element(each)
        known[each.image, each.category, element[-1]] = element
        annotators.setdefault(element, set()).update(each.flags)
    same: dict[Element, Element] = {}
    for group in synonyms:
        names = dict.fromkeys(map(text_key, group.choices))
        elements = [known.get((group.image, group.category, name)) for name in names]
        alike: list[Element] = []
        heard: set[str] = set()
        for one in elements:
            if one is not None and one not in same and heard.isdisjoint(annotators[one]):
                alike.append(one)
                heard |= annotators[one]
        if len(alike) > 1:
            same |= dict.fromkeys(alike, alike[0])
    return same


def merge_annotations(
    candidates: Iterable[Candidate],
    same: Mapping[Element, Element] = MappingProxyType({}),
    model: str = "",
) -> tuple[Fate, ...]:
    """Keep one candidate per element of a medium and dimension.

    The most frequent value stays, the earlier one of a tie. It is accepted if two or more
    annotators gave it and nobody another one; else people review it, with each annotator's value.
    They also review elements that are the `same` only according to the `model`.
    """
    groups: dict[Element, list[Candidate]] = {}
    for candidate in candidates:
        element = _element(candidate)
        groups.setdefault(same.get(element, element), []).append(candidate)
    return tuple(fate for group in groups.values() for fate in _merged(group, model))


def _element(candidate: Candidate) -> Element:
    named = (candidate.category, candidate.image, text_key(candidate.question))
    return named if has_one_value(candidate) else (*named, text_key(candidate.answer))


def _name(candidate: Candidate) -> str:
    return candidate.question if has_one_value(candidate) else candidate.answer


def _merged(group: Sequence[Candidate], model: str) -> list[Fate]:
    votes = Counter(text_key(each.answer) for each in group)
    value, count = votes.most_common(1)[0]
    chosen = next(each for each in group if text_key(each.answer) == value)
    alike = len({_element(each) for each in group}) == 1
    agreed = alike and count == len(group) > 1
    remark = "one annotator only" if len(group) == 1 else "" if alike else f"merged by {model}"
    said = (f"{', '.join(each.flags)}: {_said(each, alike=alike)}" for each in group)
    fate = Fate(
        replace(chosen, flags=()),
        decision=CandidateDecision.ACCEPT if agreed else CandidateDecision.REVIEW,
        reasons=(*said, *filter(None, [remark])),
    )
    return [fate if each is chosen else _copy(each, chosen) for each in group]


def _said(candidate: Candidate, *, alike: bool) -> str:
    if alike or not has_one_value(candidate):
        return candidate.answer
    return f"{candidate.question}: {candidate.answer}"


def _copy(candidate: Candidate, chosen: Candidate) -> Fate:
    if _element(candidate) == _element(chosen):
        return Fate(candidate, "same element of another annotator", f"{chosen.answer} stays")
    return Fate(candidate, "same element in other words", f"{_name(chosen)} stays")


def draw_elements(fates: Sequence[Fate], seed: int) -> tuple[Fate, ...]:
    """One element per medium and dimension, drawn by `seed` ("One Represents All", paper 3.1).

    Of the counted objects of a clip, up to 11 stay, as in the published data. The draw depends
    only on the seed, the medium, the dimension and the element.
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
