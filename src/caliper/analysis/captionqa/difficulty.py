"""How difficult questions are: the share of models that answer them right (paper 17).

Easy: more than 80% of the models, hard: fewer than 50%, medium: between them. The paper prints
only the resulting shares per domain (17.2), from answers of 24 models. A model with several runs,
and a question that is asked several times, count with their means.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from caliper.analysis.captionqa.answers import (
    AnswerSet,
    Mask,
    Places,
    Scores,
    is_right,
    number_of,
    percent,
)

LEVELS = ("easy", "medium", "hard")
EASY, HARD = 80.0, 50.0
LISTED = 10
_FEW = "the answers of two or more models are needed"


@dataclass(frozen=True, slots=True)
class DifficultySplit:
    """How many questions of a domain or category are easy, medium and hard."""

    domain: str
    category: str
    easy: int
    medium: int
    hard: int

    @property
    def questions(self) -> int:
        return self.easy + self.medium + self.hard


@dataclass(frozen=True, slots=True)
class AccuracyByLevel:
    """The accuracy of a run on the questions of each level; None if there are none."""

    name: str
    easy: float | None
    medium: float | None
    hard: float | None


@dataclass(frozen=True, slots=True)
class RatedDifficulty:
    """A question and the share of models that answer it right, in percent."""

    sample: str
    ordinal: int
    domain: str
    category: str
    text: str
    expected: str
    right: float


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Splits by domain and category, accuracy by level, and the hardest questions."""

    models: int
    domains: tuple[DifficultySplit, ...] = ()
    categories: tuple[DifficultySplit, ...] = ()
    runs: tuple[AccuracyByLevel, ...] = ()
    hardest: tuple[RatedDifficulty, ...] = ()
    remark: str = ""


def level_of(right: float) -> str:
    """The level of a question that this percentage of the models answers right."""
    if right > EASY:
        return "easy"
    return "hard" if right < HARD else "medium"


def difficulty(answers: AnswerSet, listed: int = LISTED) -> Difficulty:
    """The difficulty of all questions; of fewer than two models only a remark."""
    models = len({run.model for run in answers.runs})
    if models < 2:
        return Difficulty(models, remark=_FEW)
    firsts, right = _share_right(answers)
    levels = [None if np.isnan(share) else level_of(share) for share in right]
    domains = [_split(answers, firsts, levels, domain, "") for domain in answers.domains]
    categories = [_split(answers, firsts, levels, *name) for name in answers.categories]
    return Difficulty(
        models,
        tuple(each for each in domains if each.questions),
        tuple(each for each in categories if each.questions),
        _by_level(answers, right),
        _hardest(answers, firsts, right, listed),
    )


def _share_right(answers: AnswerSet) -> tuple[Places, Scores]:
    """The column of each question's first repeat, and the share of models that are right."""
    numbers = _numbers(answers)
    _, firsts = np.unique(numbers, return_index=True)
    right = is_right(answers.scores)
    by_model: dict[str, list[Scores]] = {}
    for run, row in zip(answers.runs, right, strict=True):
        scored = ~np.isnan(row)
        counts = np.bincount(numbers[scored], minlength=len(firsts))
        sums = np.bincount(numbers[scored], weights=row[scored], minlength=len(firsts))
        means = np.divide(sums, counts, out=np.full(len(firsts), np.nan), where=counts > 0)
        by_model.setdefault(run.model, []).append(means)
    models = [percent(np.array(rows).T) / 100 for rows in by_model.values()]
    return firsts, percent(np.array(models).T)


def _numbers(answers: AnswerSet) -> Places:
    """The number of each column's question, the same for all its repeats."""
    numbers: dict[tuple[str, int], int] = {}
    keys = ((question.sample, question.ordinal) for question in answers.questions)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int_)


def _split(
    answers: AnswerSet, firsts: Places, levels: list[str | None], domain: str, category: str
) -> DifficultySplit:
    mask: Mask = answers.categories[domain, category] if category else answers.domains[domain]
    counts = Counter(level for level, here in zip(levels, mask[firsts], strict=True) if here)
    return DifficultySplit(domain, category, *(counts[level] for level in LEVELS))


def _by_level(answers: AnswerSet, right: Scores) -> tuple[AccuracyByLevel, ...]:
    of_columns = right[_numbers(answers)]
    masks = (of_columns > EASY, (of_columns >= HARD) & (of_columns <= EASY), of_columns < HARD)
    accuracy = is_right(answers.scores)
    columns = [percent(accuracy[:, mask]) for mask in masks]
    return tuple(
        AccuracyByLevel(run.name, *(number_of(column[place]) for column in columns))
        for place, run in enumerate(answers.runs)
    )


def _hardest(
    answers: AnswerSet, firsts: Places, right: Scores, listed: int
) -> tuple[RatedDifficulty, ...]:
    hard = [place for place in np.argsort(right, kind="stable") if right[place] < HARD]
    return tuple(
        RatedDifficulty(
            question.sample,
            question.ordinal,
            question.domain,
            question.category,
            question.text,
            question.expected,
            float(right[place]),
        )
        for place in hard[:listed]
        for question in (answers.questions[firsts[place]],)
    )
