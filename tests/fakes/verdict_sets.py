"""Verdicts of runs of CAPability, written as one letter per element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from caliper.analysis.capability.verdict_sets import (
    AnnotatedElement,
    JudgedRun,
    MediaAnswers,
    Scores,
    VerdictSet,
)
from caliper.benchmarks.base import Outcomes
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.benchmarks.capability.scoring import reduce
from caliper.core.outcome import Reason, Scored, Unscored
from caliper.core.preparation import Preparation
from caliper.core.question import Item, Question, Source
from caliper.core.tally import Tally

_SCORES = {"R": 1.0, "W": -1.0, "S": 0.0, "-": np.nan, "1": 1.0, "0": 0.0, ".": np.nan}


def letters(text: str) -> Scores:
    """R(ight), W(rong) or S(ilent) about a caption, 1 or 0 about the media; - without a score, . if
    not asked.
    """
    return np.array([_SCORES[letter] for letter in text])


def elements(count: int, tasks: Sequence[str] = ("scene",)) -> tuple[AnnotatedElement, ...]:
    """This many elements of each task."""
    return tuple(
        AnnotatedElement(f"{task}/{place}", 0, task, f"{task}/{place}", f"{task}/{place}.jpg")
        for task in tasks
        for place in range(count)
    )


def judged(
    name: str,
    *repeats: str,
    asked: Sequence[AnnotatedElement] = (),
    known: str = "",
    words: Sequence[int] = (),
    captions: str = "",
    preparation: Preparation | None = None,
) -> JudgedRun:
    """A run whose captions are as long as `words`; runs with equal `captions` have the same."""
    asked = asked or elements(len(repeats[0]))
    scores = np.array([letters(each) for each in repeats])
    asked_about = np.array([letter != "." for letter in known], dtype=np.bool_)
    answers = MediaAnswers(asked_about, letters(known)) if known else None
    samples = [each.sample for each in asked]
    return JudgedRun(
        name=name,
        model=name.partition(",")[0],
        scores=scores,
        tally=_tally(asked, scores, answers),
        answers=answers,
        words=dict(zip(samples, words, strict=False)),
        digests=dict.fromkeys(samples, captions or name),
        preparation=preparation,
        captioner=name.partition(",")[0] if preparation else "",
    )


def verdict_set(*runs: JudgedRun, asked: Sequence[AnnotatedElement] = ()) -> VerdictSet:
    """Runs over these elements, by default all of one task."""
    return VerdictSet(tuple(asked or elements(runs[0].scores.shape[1])), runs)


def of_sums(name: str, tally: Tally) -> JudgedRun:
    """A run of which only the sums are known."""
    return JudgedRun(name, name, np.full((1, 0), np.nan), tally)


def sums_of(cells: Mapping[str, Mapping[str, int]]) -> Tally:
    """A tally of one cluster per cell."""
    tally = Tally()
    for cell, sums in cells.items():
        tally.add(cell, "all", **sums)
    return tally


def _tally(
    asked: Sequence[AnnotatedElement], scores: Scores, answers: MediaAnswers | None
) -> Tally:
    outcomes: list[tuple[Item, Outcomes]] = []
    for place, each in enumerate(asked):
        about = Question(0, ElementQuestion(each.task, "x"), len(scores))
        found = {(0, repeat): _outcome(row[place]) for repeat, row in enumerate(scores)}
        item = Item("capability", each.item, each.sample, each.cluster, (), (about,))
        outcomes.append((item, found))
        if answers is not None and answers.elements[place]:
            media = MediaQuestion(each.task, "?", (), "x", each.key)
            asking = Question(0, media, 1)
            key = f"qa/{each.item}"
            item = Item("capability", key, each.sample, each.cluster, (), (asking,), Source.MEDIA)
            outcomes.append((item, {(0, 0): _outcome(answers.right[place])}))
    return reduce(outcomes, {})


def _outcome(score: float) -> Scored | Unscored:
    return Unscored(Reason.UNREADABLE) if np.isnan(score) else Scored(Fraction(int(score)))
