"""Descriptions of objects, supplied or written by a model, and the prompt's words for a place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from caliper.building.candidates import Candidate, CandidateDecision, spelling_key
from caliper.building.comprecap.scenes import (
    SceneObject,
    ScenePicture,
    object_category,
    with_description,
)
from caliper.building.steps import Fate


def describe_place(each: SceneObject, picture: ScenePicture) -> str:
    """The place of an object, for the prompt."""
    sides = ("left", "top", "right", "bottom")
    words = ", ".join(f"{side} {at}" for side, at in zip(sides, each.box, strict=True))
    category = spelling_key(object_category(each.name))
    alike = sum(spelling_key(object_category(other.name)) == category for other in picture.objects)
    return f"{words} (one of {alike})" if alike > 1 else words


def missing_descriptions(
    candidates: Iterable[Candidate], pictures: Mapping[str, ScenePicture]
) -> dict[str, list[SceneObject]]:
    """The objects without a supplied description, by picture."""
    missing: dict[str, list[SceneObject]] = {}
    for candidate in candidates:
        each = find_object(candidate, pictures)
        if not each.description:
            missing.setdefault(candidate.image, []).append(each)
    return missing


def find_object(candidate: Candidate, pictures: Mapping[str, ScenePicture]) -> SceneObject:
    """The object that a candidate is about."""
    objects = pictures[candidate.image].objects
    return next(each for each in objects if each.name == candidate.question)


def describe(
    fates: Sequence[Fate],
    pictures: Mapping[str, ScenePicture],
    written: Iterable[Candidate] = (),
    model: str = "",
) -> list[Fate]:
    """Accept the supplied descriptions, leave those `written` by a model to people, and drop
    objects without any. Equal descriptions in a category, which the paper forbids (3.1), are left
    to people too.
    """
    texts = {(each.image, each.question): each.answer for each in written}
    described = [_described(fate, pictures, texts, model) for fate in fates]
    first: dict[tuple[str, str, str], str] = {}
    apart = []
    for fate in described:
        each = fate.candidate
        category = spelling_key(object_category(each.question))
        wording = (each.image, category, spelling_key(each.answer))
        twin = "" if fate.dropped else first.setdefault(wording, each.question)
        if twin in ("", each.question):
            apart.append(fate)
            continue
        reasons = (*fate.reasons, f"same description as {twin}")
        apart.append(replace(fate, decision=CandidateDecision.REVIEW, reasons=reasons))
    return apart


def _described(
    fate: Fate,
    pictures: Mapping[str, ScenePicture],
    written: Mapping[tuple[str, str], str],
    model: str,
) -> Fate:
    candidate = fate.candidate
    if find_object(candidate, pictures).description:
        return replace(fate, decision=CandidateDecision.ACCEPT)
    text = written.get((candidate.image, candidate.question), "")
    if not text:
        return replace(fate, dropped="no description")
    return replace(
        fate,
        candidate=with_description(candidate, text),
        decision=CandidateDecision.REVIEW,
        reasons=(f"written by {model}",),
    )
