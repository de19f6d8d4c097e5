"""Caption prompts compared (paper 5.1, 5.2 and 14): what other captions of one model gain and lose.

The changes of all models that were captioned with both prompts are pooled; questions count that
have a score with both. Coverage is the share of questions that the reader answers, among those
that offer "cannot answer". Intervals are paired over pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

import numpy as np

from caliper.analysis.agreement import Coefficient
from caliper.analysis.captionqa.answers import (
    AnsweredRun,
    AnswerSet,
    Mask,
    PooledChange,
    Scores,
    correlate,
    is_cannot,
    is_right,
    mean_change,
    number_of,
    percent,
)
from caliper.analysis.correlation import estimate_correlation

STATES = ("right", "wrong", "cannot answer", "unscored")
_NONE = "no model has runs with two caption prompts (caliper evaluate captionqa --prompt)"
_Pairs = Sequence[tuple[AnsweredRun, AnsweredRun]]


@dataclass(frozen=True, slots=True)
class CategoryGain:
    """The gains of a domain's category in accuracy and in coverage, in points."""

    domain: str
    category: str
    questions: int
    accuracy: Coefficient
    coverage: float | None


@dataclass(frozen=True, slots=True)
class PromptChange:
    """From one prompt to another, over `models`: gains overall and by category, largest first.

    `transitions` counts questions by state before (rows) and after (columns), as in `STATES`.
    `coverage_accuracy` is Pearson's r of the gains in coverage and accuracy over categories.
    """

    before: str
    after: str
    models: tuple[str, ...]
    accuracy: Coefficient
    coverage: float | None
    categories: tuple[CategoryGain, ...]
    transitions: tuple[tuple[int, ...], ...]
    coverage_accuracy: Coefficient


@dataclass(frozen=True, slots=True)
class PromptLength:
    """The mean length of a prompt's captions in words, and their accuracy.

    `share_of_gain` is how much of the gain from the shortest prompt to the most accurate one it
    has, `share_of_words` its length relative to that one, both in percent.
    """

    prompt: str
    words: float
    accuracy: float
    share_of_gain: float | None = None
    share_of_words: float | None = None


@dataclass(frozen=True, slots=True)
class LengthCorrelation:
    """Mean words of a run's captions, and the correlation of length and score over pictures."""

    name: str
    words: float
    score: float | None
    pearson: Coefficient
    spearman: Coefficient


@dataclass(frozen=True, slots=True)
class PromptComparison:
    """The prompts of models that have several, and caption length against score of all runs."""

    changes: tuple[PromptChange, ...]
    prompts: tuple[PromptLength, ...]
    lengths: tuple[LengthCorrelation, ...]
    remark: str = ""


def compare_prompts(answers: AnswerSet) -> PromptComparison:
    """Compare every two prompts that a model has, in the order of the runs."""
    prompts = list(dict.fromkeys(run.prompt for run in answers.runs))
    by_name = {(run.model, run.prompt): run for run in answers.runs}
    models = list(dict.fromkeys(run.model for run in answers.runs))
    changes = []
    for before, after in combinations(prompts, 2):
        pairs = [
            (by_name[model, before], by_name[model, after])
            for model in models
            if (model, before) in by_name and (model, after) in by_name
        ]
        if pairs:
            changes.append(_change(answers, pairs))
    complete = [model for model in models if all((model, each) in by_name for each in prompts)]
    points = [
        _point(answers, [by_name[model, each] for model in complete])
        for each in prompts
        if complete and changes
    ]
    return PromptComparison(
        tuple(changes),
        diminishing_returns(point for point in points if point is not None),
        tuple(one for run in answers.runs if (one := _length(answers, run)) is not None),
        "" if changes else _NONE,
    )


def diminishing_returns(points: Iterable[PromptLength]) -> tuple[PromptLength, ...]:
    """The prompts from short to long, with their shares of the most accurate one's gain and words.

    Paper 5.2: Simple has 99% of the gain from Short to Long at 67% of the words.
    """
    ordered = sorted(points, key=lambda point: point.words)
    if not ordered:
        return ()
    first, best = ordered[0], max(ordered, key=lambda point: point.accuracy)
    gain = best.accuracy - first.accuracy
    return tuple(
        PromptLength(
            point.prompt,
            point.words,
            point.accuracy,
            100 * (point.accuracy - first.accuracy) / gain if gain else None,
            100 * point.words / best.words if best.words else None,
        )
        for point in ordered
    )


def _change(answers: AnswerSet, pairs: _Pairs) -> PromptChange:
    accuracy = PooledChange.of((is_right(one.scores), is_right(two.scores)) for one, two in pairs)
    coverage = PooledChange.of(
        (_covered(answers, one), _covered(answers, two)) for one, two in pairs
    )
    gains = [
        _gain(answers, name, accuracy, coverage)
        for name, mask in answers.categories.items()
        if accuracy.counted[mask].any()
    ]
    gains.sort(key=lambda gain: -(gain.accuracy.value or 0.0))
    whole: dict[str, Mask] = dict(answers.domains)
    if answers.reading == "questions":
        whole = {"": np.ones(len(answers.questions), dtype=np.bool_)}
    by_part = np.array([[coverage.mean(mask) / 100 for mask in whole.values()]])
    return PromptChange(
        pairs[0][0].prompt,
        pairs[0][1].prompt,
        tuple(before.model for before, _ in pairs),
        mean_change(accuracy.by_picture(answers, whole)),
        number_of(percent(by_part)[0]),
        tuple(gains),
        _transitions(pairs),
        correlate([(gain.coverage, gain.accuracy.value) for gain in gains]),
    )


def _gain(
    answers: AnswerSet, name: tuple[str, str], accuracy: PooledChange, coverage: PooledChange
) -> CategoryGain:
    mask = answers.categories[name]
    cells = accuracy.by_picture(answers, {"": mask})
    questions = int(accuracy.counted[mask].sum())
    return CategoryGain(*name, questions, mean_change(cells), number_of(coverage.mean(mask)))


def _covered(answers: AnswerSet, run: AnsweredRun) -> Scores:
    """1 where the reader answers, 0 where it cannot; NaN where that is not offered."""
    return np.where(answers.has_cannot, 1 - is_cannot(run.scores), np.nan)


def _transitions(pairs: _Pairs) -> tuple[tuple[int, ...], ...]:
    counts = np.zeros((len(STATES), len(STATES)), dtype=np.int_)
    for before, after in pairs:
        np.add.at(counts, (_states(before.scores), _states(after.scores)), 1)
    return tuple(tuple(int(count) for count in row) for row in counts)


def _states(scores: Scores) -> np.ndarray[tuple[int], np.dtype[np.int_]]:
    return np.select([np.isnan(scores), scores == 1, scores == 0], [3, 0, 1], default=2)


def _point(answers: AnswerSet, runs: Sequence[AnsweredRun]) -> PromptLength | None:
    """The mean words and accuracy of a prompt over models."""
    words = [run.mean_words for run in runs if run.mean_words is not None]
    accuracy = answers.overall(is_right(np.array([run.scores for run in runs])))
    if not words or np.isnan(accuracy).any():
        return None
    return PromptLength(runs[0].prompt, fsum(words) / len(words), float(accuracy.mean()))


def _length(answers: AnswerSet, run: AnsweredRun) -> LengthCorrelation | None:
    if run.mean_words is None:
        return None
    names, numbers = answers.samples
    scored = ~np.isnan(run.scores)
    points = np.bincount(numbers[scored], weights=run.scores[scored], minlength=len(names))
    counts = np.bincount(numbers[scored], minlength=len(names))
    shares = [
        (float(run.words[name]), float(100 * point / count))
        for name, point, count in zip(names, points, counts, strict=True)
        if count and name in run.words
    ]
    correlation = estimate_correlation(
        [words for words, _ in shares], [score for _, score in shares]
    )
    score = number_of(answers.overall(run.scores)[0])
    return LengthCorrelation(
        run.name, run.mean_words, score, correlation.pearson, correlation.spearman
    )
