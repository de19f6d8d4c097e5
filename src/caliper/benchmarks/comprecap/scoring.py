"""Reduce outcomes to exact sums (paper 3.3).

Every S metric is a mean over pictures: per cell and picture, a tally holds the picture's value
in `sum` and 1 in `n`. Cells are `objects`, `attribute/R`, `relation/R` and `coverage/R` for each
repeat R, and `compreqa/p` and `compreqa/cap`. `scored` and `unscored` count outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from caliper.benchmarks.base import Outcomes, Settings
from caliper.benchmarks.comprecap.questions import (
    HIGHEST,
    CompreQaQuestion,
    PhraseQuestion,
    SceneMeasure,
)
from caliper.benchmarks.comprecap.settings import setting_value
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item, Source
from caliper.core.tally import Tally


def reduce(outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
    """Reduce items and their outcomes to a tally."""
    tally = Tally()
    for item, by_position in outcomes:
        if item.source is Source.MEDIA:
            _add_answers(tally, item, by_position)
        else:
            _add_objects(tally, item, by_position)
            for repeat in range(max(question.repeats for question in item.questions)):
                _add_phrases(tally, item, by_position, repeat, settings)
    return tally


def coverage(measure: SceneMeasure, scores: Sequence[Fraction], over: str) -> Fraction:
    """Compute the exact S-Cov of a picture (paper 3.3).

    It is the sum over pixels of min(1, sum of mask x score / 5), divided by the area of the
    `union` of the masks (released script) or of the whole `image` (paper), selected by `over`.
    `scores` has one score, 0 to 5, per instance.
    """
    # Integers are as exact and many times faster.
    plain = [score.numerator if score.denominator == 1 else score for score in scores]
    covered = sum(
        min(HIGHEST, sum(plain[place] for place in atom.instances)) * atom.pixels
        for atom in measure.atoms
    )
    area = measure.pixels if over == "image" else sum(atom.pixels for atom in measure.atoms)
    # Without a usable mask there is no area, nor a verdict; the plan's averages still have names.
    return Fraction(covered) / (HIGHEST * area) if area else Fraction(0)


def _add_answers(tally: Tally, item: Item, by_position: Outcomes) -> None:
    for question in item.questions:
        payload: CompreQaQuestion = question.payload
        for repeat in range(question.repeats):
            outcome = by_position.get((question.ordinal, repeat))
            cell = f"compreqa/{payload.kind}"
            if isinstance(outcome, Scored):
                tally.add(cell, item.cluster, sum=outcome.score, n=1)
            _count(tally, cell, item.cluster, [outcome])


def _add_objects(tally: Tally, item: Item, by_position: Outcomes) -> None:
    outcome = by_position.get((0, 0))
    if isinstance(outcome, Scored):
        tally.add("objects", item.cluster, sum=outcome.score, n=1)
    _count(tally, "objects", item.cluster, [outcome])


def _add_phrases(
    tally: Tally, item: Item, by_position: Outcomes, repeat: int, settings: Settings
) -> None:
    by_kind: dict[str, list[Outcome | None]] = {"attribute": [], "relation": []}
    for question in item.questions:
        if isinstance(question.payload, PhraseQuestion):
            by_kind[question.payload.kind].append(by_position.get((question.ordinal, repeat)))
    mentioned_only = setting_value(settings, "attribute_over") == "mentioned"
    for kind, outcomes in by_kind.items():
        cell = f"{kind}/{repeat}"
        scored = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
        if kind == "attribute" and mentioned_only:
            scored = [outcome for outcome in scored if outcome.mentioned]
        # Pictures without relations, or without a score, are left out of the mean.
        if scored:
            total = sum((outcome.score for outcome in scored), Fraction(0))
            tally.add(cell, item.cluster, sum=total / len(scored), n=1)
        _count(tally, cell, item.cluster, outcomes)
    _add_coverage(tally, item, by_kind["attribute"], repeat, settings)


def _add_coverage(
    tally: Tally, item: Item, attributes: Sequence[Outcome | None], repeat: int, settings: Settings
) -> None:
    """Add S-Cov; a picture with an unscored instance has none and counts as unscored."""
    if not attributes or None in attributes:
        return
    cell = f"coverage/{repeat}"
    scores = [outcome.score for outcome in attributes if isinstance(outcome, Scored)]
    if len(scores) < len(attributes):
        tally.add(cell, item.cluster, scored=0, unscored=1)
        return
    value = coverage(item.questions[0].payload, scores, setting_value(settings, "s_cov"))
    tally.add(cell, item.cluster, sum=value, n=1, scored=1, unscored=0)


def _count(tally: Tally, cell: str, cluster: str, outcomes: Iterable[Outcome | None]) -> None:
    flags = [isinstance(outcome, Scored) for outcome in outcomes if outcome is not None]
    if flags:
        tally.add(cell, cluster, scored=sum(flags), unscored=len(flags) - sum(flags))
