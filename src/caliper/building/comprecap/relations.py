"""Relations between objects of a picture: their ends, and which of them stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from caliper.building.candidates import Candidate, CandidateDecision, candidate_id, spelling_key
from caliper.building.comprecap.scenes import ENDS, RELATION, ScenePicture, object_category
from caliper.building.steps import Fate


def relation_candidate(image: str, subject: str, end: str, text: str) -> Candidate:
    """A relation as a candidate. The id depends on its text: two ends may have many relations."""
    ends = f"{subject}{ENDS}{end}"
    text = " ".join(text.split())
    return Candidate(candidate_id(image, ends, (), text), image, ends, (), text, RELATION)


def ends_of(candidate: Candidate) -> tuple[str, str]:
    """The subject and the object of a relation."""
    subject, _, end = candidate.question.partition(ENDS)
    return subject, end


def find_end(text: str, subject: str, names: Sequence[str]) -> str:
    """The object that a relation's text names besides its subject; empty if it names none.

    It is the one named last, or its category, if several objects share that. For another object of
    the subject's category, the text has to name the category twice.
    """
    last: tuple[int, str] = (-1, "")
    own = spelling_key(object_category(subject))
    for category in dict.fromkeys(map(object_category, names)):
        mentions = [match.start() for match in _mentions(text, category)]
        members = [name for name in names if object_category(name) == category and name != subject]
        enough = 2 if spelling_key(category) == own else 1
        if members and len(mentions) >= enough:
            place = (mentions[-1], members[0] if len(members) == 1 else category)
            last = max(last, place)
    return last[1]


def names_category(text: str, category: str) -> bool:
    """Whether a text names a category as a whole word, in the singular or plural."""
    return bool(_mentions(text, category))


def _mentions(text: str, category: str) -> list[re.Match[str]]:
    pattern = rf"(?<!\w){re.escape(category)}(?:e?s)?(?!\w)"
    return list(re.finditer(pattern, text, re.IGNORECASE))


def has_end(end: str, subject: str, names: Collection[str]) -> bool:
    """Whether an end, which may be only a category, is among other objects than the subject."""
    return any(end in (name, object_category(name)) for name in names if name != subject)


def relation_fault(candidate: Candidate, names: Collection[str]) -> tuple[str, str]:
    """Why a relation between objects of these names is dropped, and a detail; empty if it stays."""
    subject, end = ends_of(candidate)
    text = candidate.answer
    rules = (
        (subject in names, "subject is left out", subject),
        (bool(end), "names no other object", text),
        (subject != end, "relation to itself", text),
        (has_end(end, subject, names), "object is left out", end),
        (names_category(text, object_category(end)), "text does not name its object", text),
    )
    for holds, reason, detail in rules:
        if not holds:
            return reason, detail
    return "", ""


def list_relations(pictures: Iterable[ScenePicture]) -> Iterator[Fate]:
    """The supplied relations, which people need not review."""
    for picture in pictures:
        names = [each.name for each in picture.objects]
        for each in picture.objects:
            for text in each.relations:
                end = find_end(text, each.name, names)
                candidate = relation_candidate(picture.image, each.name, end, text)
                yield Fate(candidate, decision=CandidateDecision.ACCEPT)


def check_relations(fates: Iterable[Fate], objects: Iterable[Candidate]) -> Iterator[Fate]:
    """Drop relations without both ends among `objects`, and all but one of the same."""
    names: dict[str, list[str]] = {}
    for each in objects:
        names.setdefault(each.image, []).append(each.question)
    seen: set[tuple[str, ...]] = set()
    for fate in fates:
        candidate = fate.candidate
        reason, detail = relation_fault(candidate, names.get(candidate.image, ()))
        texts = candidate.question, candidate.answer
        wording = (candidate.image, *map(spelling_key, texts))
        if not reason and wording in seen:
            reason, detail = "same relation twice", candidate.answer
        seen.add(wording)
        yield replace(fate, dropped=reason, detail=detail)
