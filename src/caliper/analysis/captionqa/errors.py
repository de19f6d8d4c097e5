"""Coverage against accuracy, and kinds of errors (paper 14.5 and 15).

An answer that is not right is *omitted* (the reader cannot answer from the caption), *misleading*
(wrong, although it could have said so) or *forced* (wrong, without that option: a yes or no
question). Where the checkpoint was asked about the picture, too, `seen` counts those that it
answers right from the picture: the caption has lost what the model sees.

Of Table 9, the correlation of its Cannot and Mean columns is -0.74; the text prints r = 0.68, from
figures that are not printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from caliper.analysis.agreement import Coefficient
from caliper.analysis.captionqa.answers import (
    AnsweredRun,
    AnswerSet,
    Mask,
    correlate,
    is_cannot,
    is_right,
    number_of,
    percent,
)


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """The answers of a run to all questions (or those of a category), by kind of error.

    `seen` counts errors that the checkpoint answers right from the picture, `unseen` those that it
    does not; both are None if it was not asked.
    """

    name: str
    right: int
    omitted: int
    misleading: int
    forced: int
    unscored: int
    seen: int | None = None
    unseen: int | None = None


@dataclass(frozen=True, slots=True)
class RunCoverage:
    """Coverage, accuracy, and accuracy on what is answered, in percent; and Pearson's r of coverage
    and accuracy over categories.
    """

    name: str
    coverage: float | None
    accuracy: float | None
    accuracy_of_answered: float | None
    over_categories: Coefficient


@dataclass(frozen=True, slots=True)
class CategoryStatistics:
    """A category over all runs, as in Table 9: the mean, standard deviation, least and greatest
    score of the runs, and the percentage of "cannot answer" where it is offered.
    """

    domain: str
    category: str
    questions: int
    mean: float | None
    deviation: float | None
    least: float | None
    most: float | None
    cannot: float | None
    errors: ErrorCounts


@dataclass(frozen=True, slots=True)
class ErrorAnalysis:
    """Errors and coverage of each run, categories over all runs, and over categories the
    correlation of "cannot answer" with the mean score.
    """

    errors: tuple[ErrorCounts, ...]
    coverage: tuple[RunCoverage, ...]
    categories: tuple[CategoryStatistics, ...]
    cannot_score: Coefficient
    remark: str = ""


def error_analysis(answers: AnswerSet) -> ErrorAnalysis:
    """Coverage, accuracy and errors of all runs."""
    everything = np.ones(len(answers.questions), dtype=np.bool_)
    categories = tuple(_category(answers, name) for name in answers.categories)
    return ErrorAnalysis(
        tuple(count_errors(answers, run.name, [run], everything) for run in answers.runs),
        tuple(_coverage(answers, run) for run in answers.runs),
        categories,
        correlate([(category.cannot, category.mean) for category in categories]),
    )


def count_errors(
    answers: AnswerSet, name: str, runs: Sequence[AnsweredRun], mask: Mask
) -> ErrorCounts:
    """Count the answers of some runs to some questions by kind of error."""
    counts = np.zeros(5, dtype=np.int_)
    seen = unseen = 0
    all_on_image = all(run.on_image is not None for run in runs)
    offered = answers.has_cannot[mask]
    for run in runs:
        scores = run.scores[mask]
        wrong, cannot = scores == 0, is_cannot(scores) == 1
        kinds = (scores == 1, cannot, wrong & offered, wrong & ~offered, np.isnan(scores))
        counts += [int(kind.sum()) for kind in kinds]
        if run.on_image is not None:
            on_image = run.on_image[mask]
            seen += int(((wrong | cannot) & (on_image == 1)).sum())
            unseen += int(((wrong | cannot) & (on_image < 1)).sum())
    numbers = (int(count) for count in counts)
    return ErrorCounts(name, *numbers, *((seen, unseen) if all_on_image else (None, None)))


def _coverage(answers: AnswerSet, run: AnsweredRun) -> RunCoverage:
    right, cannot = (
        is_right(run.scores),
        np.where(answers.has_cannot, is_cannot(run.scores), np.nan),
    )
    answered = np.where(is_cannot(run.scores) == 0, right, np.nan)
    covered, accurate, of_answered = answers.overall(np.array([1 - cannot, right, answered]))
    by_category = [
        [number_of(value) for value in percent(np.array([1 - cannot[mask], right[mask]]))]
        for mask in answers.categories.values()
    ]
    return RunCoverage(
        run.name,
        number_of(covered),
        number_of(accurate),
        number_of(of_answered),
        correlate([(coverage, accuracy) for coverage, accuracy in by_category]),
    )


def _category(answers: AnswerSet, name: tuple[str, str]) -> CategoryStatistics:
    mask = answers.categories[name]
    scores = answers.scores[:, mask]
    by_run = percent(scores)
    scored = by_run[~np.isnan(by_run)]
    cannot = is_cannot(answers.scores[:, mask & answers.has_cannot])
    return CategoryStatistics(
        *name,
        int(mask.sum()),
        number_of(scored.mean()) if len(scored) else None,
        number_of(scored.std(ddof=1)) if len(scored) > 1 else None,
        number_of(scored.min()) if len(scored) else None,
        number_of(scored.max()) if len(scored) else None,
        number_of(percent(cannot.reshape(1, -1))[0]),
        count_errors(answers, "all runs", answers.runs, mask),
    )
