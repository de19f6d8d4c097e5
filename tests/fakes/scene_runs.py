"""Outcomes of CompreCap over a scene of 10 pixels: a dog of 4 and a frisbee of 2, one shared.

Words have vectors made by hand: a puppy is .6 of a dog, a disc .8 of a frisbee.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.fakes import tiny

from caliper.analysis.comprecap.scenes import ExaminedScene, SceneRun
from caliper.benchmarks.base import Outcomes, PlanRequest
from caliper.benchmarks.comprecap.examination import Scene, pieces
from caliper.benchmarks.comprecap.planning import plan
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.core.question import Item, Source
from caliper.core.rows import Row

VECTORS = {
    "dog": (1.0, 0.0, 0.0, 0.0),
    "puppy": (0.6, 0.8, 0.0, 0.0),
    "frisbee": (0.0, 0.0, 1.0, 0.0),
    "disc": (0.0, 0.0, 0.8, 0.6),
}
LOST = Unscored(Reason.BACKEND)
OWN = "own"
DOG = tiny.thing("dog", "a brown dog", tiny.mask(*[1] * 4, *[0] * 6), "The dog has the frisbee")
FRISBEE = tiny.thing("frisbee", "a white frisbee", tiny.mask(0, 0, 0, 1, 1, *[0] * 5))
Given = int | Outcome | None
"""A score, an outcome, or None for a phrase that no sentence mentions."""


def row(image: str = "park.jpg", *things: dict[str, Any]) -> Row:
    return Row("anno.json", 1, {"image": image, "info": list(things or (DOG, FRISBEE))})


def planned(
    rows: Sequence[Row], qa: Sequence[Mapping[str, Any]] = (), repeats: int = 1
) -> list[Item]:
    qa_rows = [Row("compreqa_p.json", line, dict(one)) for line, one in enumerate(qa, start=1)]
    return list(plan(rows, PlanRequest({}, repeats=repeats, qa_rows=qa_rows or None)))


def matched(caption: str, nouns: Sequence[str] = tuple(VECTORS)) -> Scene:
    """The scene of a caption, with a tagger that knows these nouns."""
    parts = pieces(caption)
    found = [[word for word in part.lower().split() if word in nouns] for part in parts]
    return Scene.of(parts, found, ("dog", "frisbee"), VECTORS)


def outcome(given: Given) -> Outcome:
    if given is None:
        return Scored(Fraction(0), mentioned=False)
    return Scored(Fraction(given)) if isinstance(given, int) else given


def scene(
    caption: str | None = "A dog has a frisbee.",
    scores: Sequence[Given] = (4, 2, 5),
    *,
    item: Item | None = None,
    objects: Given = None,
    taggers: Mapping[str, Sequence[str]] | None = None,
) -> ExaminedScene:
    """A scene with a score of each phrase, the same in all repeats."""
    item = item or planned([row()])[0]
    found: dict[tuple[int, int], Outcome] = {(0, 0): outcome(objects)}
    for ordinal, given in enumerate(scores, start=1):
        for repeat in range(item.questions[ordinal].repeats):
            found[ordinal, repeat] = outcome(given)
    scenes = {}
    if caption is not None:
        known = {OWN: tuple(VECTORS), **(taggers or {})}
        scenes = {name: matched(caption, nouns) for name, nouns in known.items()}
        if objects is None:
            total = sum(match.micro for match in scenes[OWN].matches.values())
            found[0, 0] = Scored(Fraction(total, 2_000_000))
    return ExaminedScene(item, found, caption, scenes)


def answers(items: Sequence[Item], *given: Given) -> tuple[tuple[Item, Outcomes], ...]:
    """The items of CompreQA with the outcomes of their questions, in order."""
    rest = list(given)
    return tuple(
        (item, {(q.ordinal, 0): outcome(rest.pop(0)) for q in item.questions})
        for item in items
        if item.source is Source.MEDIA
    )


def scene_run(name: str, *scenes: ExaminedScene, **more: Any) -> SceneRun:
    return SceneRun(name, {}, scenes, **{"tagger": OWN, **more})
