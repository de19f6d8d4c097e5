"""Pictures whose objects have masks, and the rules for these objects (CompreCap's paper, 3.1).

An object's name is its category, numbered if a picture has several of that: "dog #2".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from caliper.benchmarks.comprecap.drafts import TINY
from caliper.benchmarks.comprecap.questions import Atom
from caliper.building.candidates import Candidate, candidate_id, spelling_key
from caliper.building.steps import Fate

OBJECT, RELATION, QUESTION = CATEGORIES = ("object", "relation", "CompreQA-Cap")
"""What candidates are about, as their categories."""
COVERAGE = 0.95
"""The least share of a picture that masks cover together (paper 3.1)."""
RELATIONS_WRITTEN = 10
"""Relations that a model writes of a picture at most; the paper's have 8.84 on average."""
SAME = 0.9
"""Masks of a category with this intersection over union, or more, are of one object (ours)."""
ENDS = " → "
_NUMBERED = re.compile(r" #\d+$")


@dataclass(frozen=True, slots=True)
class SceneObject:
    """A supplied object. `mask` is encoded as in CompreCap's data; `fault` says why it is missing.

    `box` is left, top, right and bottom in percent of the picture. Descriptions may be missing, and
    `relations` are the texts of which it is the subject.
    """

    name: str
    mask: str
    box: tuple[int, int, int, int] = (0, 0, 0, 0)
    fault: str = ""
    short: str = ""
    extend: str = ""
    relations: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The short description, and in a line of its own the full one; empty if it has none."""
        texts = [text for text in (self.short, self.extend) if text]
        return "\n".join(dict.fromkeys(texts))


@dataclass(frozen=True, slots=True)
class ScenePicture:
    """A picture of `pixels`: its objects, and the overlaps of their masks by place."""

    image: str
    pixels: int
    objects: tuple[SceneObject, ...]
    atoms: tuple[Atom, ...]

    def covered(self, places: Collection[int]) -> float:
        """The share of the picture that masks cover together."""
        pixels = sum(
            atom.pixels for atom in self.atoms if not set(places).isdisjoint(atom.instances)
        )
        return pixels / self.pixels

    def overlap(self, one: int, other: int) -> float:
        """Intersection over union of two masks."""
        both = self.covered((one,)) + self.covered((other,))
        union = self.covered((one, other))
        return (both - union) / union if union else 0.0

    def tiny(self, names: Collection[str]) -> list[str]:
        """Those of `names` that are alone in their category, and tiny (paper 3.2)."""
        counts = Counter(spelling_key(object_category(name)) for name in names)
        return [
            each.name
            for place, each in enumerate(self.objects)
            if each.name in names
            and counts[spelling_key(object_category(each.name))] == 1
            and self.covered((place,)) < TINY
        ]


def object_names(categories: Sequence[str]) -> list[str]:
    """The names of objects of these categories."""
    counts, seen = Counter(map(spelling_key, categories)), Counter[str]()
    names = []
    for category in categories:
        text = " ".join(category.split())
        seen[spelling_key(text)] += 1
        names.append(
            f"{text} #{seen[spelling_key(text)]}" if counts[spelling_key(text)] > 1 else text
        )
    return names


def object_category(name: str) -> str:
    """The category of the object with that name."""
    return _NUMBERED.sub("", name)


def object_candidate(picture: ScenePicture, place: int) -> Candidate:
    """The object as a candidate. Until it has a description, its category stands for it."""
    each = picture.objects[place]
    flags = (f"{picture.covered((place,)):.1%} of the picture",)
    candidate = Candidate("", picture.image, each.name, (), "", OBJECT, flags)
    return with_description(candidate, each.description or object_category(each.name))


def with_description(candidate: Candidate, text: str) -> Candidate:
    """The object with that description, which its id depends on: people judge the text."""
    name = candidate_id(candidate.image, candidate.question, (), text)
    return replace(candidate, id=name, answer=text)


@dataclass(frozen=True, slots=True)
class SceneRules:
    """The objects that stay: `vocabulary` has the known categories, empty for any; `least` is the
    minimum share of the picture that an object covers, `coverage` that of all objects together.
    """

    vocabulary: tuple[str, ...] = ()
    least: float = 0.0
    coverage: float = COVERAGE


def list_objects(pictures: Sequence[ScenePicture]) -> Iterator[Fate]:
    """Every object; those without a usable mask are dropped."""
    for picture in pictures:
        for place, each in enumerate(picture.objects):
            reason = "mask cannot be used" if each.fault else ""
            yield Fate(object_candidate(picture, place), reason, each.fault)


def check_objects(
    fates: Sequence[Fate], pictures: Mapping[str, ScenePicture], rules: SceneRules
) -> list[Fate]:
    """Drop the objects that break a rule, then those of pictures that are not covered enough."""
    known = set(map(spelling_key, rules.vocabulary))
    by_picture: dict[str, list[Fate]] = {}
    for fate in fates:
        by_picture.setdefault(fate.candidate.image, []).append(fate)
    checked: list[Fate] = []
    for image, own in by_picture.items():
        picture = pictures[image]
        places = {each.name: place for place, each in enumerate(picture.objects)}
        stay: list[int] = []
        objects = []
        for fate in own:
            place = places[fate.candidate.question]
            reason, detail = _fault(picture, place, stay, known, rules)
            stay += [] if reason else [place]
            objects.append(replace(fate, dropped=reason, detail=detail))
        covered = picture.covered(stay)
        if covered < rules.coverage:
            few = "picture not covered enough"
            detail = f"{covered:.1%} of {image}, {rules.coverage:.0%} suffice"
            objects = [f if f.dropped else replace(f, dropped=few, detail=detail) for f in objects]
        checked += objects
    return checked


def _fault(
    picture: ScenePicture, place: int, stay: Sequence[int], known: set[str], rules: SceneRules
) -> tuple[str, str]:
    name = picture.objects[place].name
    category = spelling_key(object_category(name))
    if known and category not in known:
        return "category not in the vocabulary", category
    share = picture.covered((place,))
    if not share or share < rules.least:
        return "too small", f"{share:.2%} of the picture"
    for other in stay:
        twin = picture.objects[other].name
        if (
            spelling_key(object_category(twin)) == category
            and picture.overlap(place, other) >= SAME
        ):
            return "same object twice", f"its mask is that of {twin}"
    return "", ""


def mean_coverage(fates: Sequence[Fate], pictures: Mapping[str, ScenePicture]) -> float | None:
    """The mean share of a picture that its remaining objects cover; None without a picture."""
    names: dict[str, set[str]] = {}
    for fate in fates:
        if not fate.dropped:
            names.setdefault(fate.candidate.image, set()).add(fate.candidate.question)
    shares = [
        pictures[image].covered(
            [place for place, each in enumerate(pictures[image].objects) if each.name in own]
        )
        for image, own in names.items()
    ]
    return sum(shares) / len(shares) if shares else None
