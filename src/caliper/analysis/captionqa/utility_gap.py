"""The utility gap (paper 5): QA on the image minus QA on the caption, and how it changes ranks.

The gaps in Table 4 are differences of accuracies: with those of the Simple prompt in Tables 11 to
26 they give the accuracies on the image that the text quotes, whereas the score of GPT-5 in the
Natural domain, 88.78 + 11.30, would be over 100. Differences of scores, which reports have as
`utility_gap`, are shown beside them. Intervals are paired over pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from caliper.analysis.agreement import Coefficient
from caliper.analysis.captionqa.answers import (
    AnsweredRun,
    AnswerSet,
    Mask,
    PooledChange,
    is_right,
    mean_change,
    number_of,
)
from caliper.analysis.rankings import RankingPair, compare_rankings

OVERALL = "overall"
_NONE = "no run was asked about the pictures (caliper evaluate captionqa --qa)"


@dataclass(frozen=True, slots=True)
class DomainGap:
    """Accuracy on the image and on the caption, and their difference with its interval, over the
    questions with a score for both. `score_gap` is the difference of the scores.
    """

    domain: str
    questions: int
    on_image: float | None
    on_caption: float | None
    gap: Coefficient
    score_gap: float | None


@dataclass(frozen=True, slots=True)
class RunGap:
    """The gaps of a run: overall, then by domain."""

    name: str
    domains: tuple[DomainGap, ...]


@dataclass(frozen=True, slots=True)
class UtilityGap:
    """The gaps of all runs, and their ranking by accuracy on the image and on the caption."""

    runs: tuple[RunGap, ...] = ()
    ranking: RankingPair | None = None
    remark: str = ""


def utility_gap(answers: AnswerSet) -> UtilityGap:
    """The gaps of the runs that were asked about the pictures, too."""
    runs = (_gaps(answers, run) for run in answers.runs if run.on_image is not None)
    gaps = tuple(run for run in runs if run.domains)
    if not gaps:
        return UtilityGap(remark=_NONE)
    return UtilityGap(
        gaps, compare_rankings(_overall(gaps, "on_image"), _overall(gaps, "on_caption"))
    )


def _overall(gaps: tuple[RunGap, ...], which: str) -> dict[str, float]:
    values = {run.name: getattr(run.domains[0], which) for run in gaps}
    return {name: value for name, value in values.items() if value is not None}


def _gaps(answers: AnswerSet, run: AnsweredRun) -> RunGap:
    domains = answers.domains
    whole: Mapping[str, Mask] = domains
    if answers.reading == "questions":
        whole = {OVERALL: np.ones(len(answers.questions), dtype=np.bool_)}
    parts = [_gap(answers, run, OVERALL, whole)]
    parts += [_gap(answers, run, name, {name: mask}) for name, mask in domains.items()]
    return RunGap(run.name, tuple(part for part in parts if part.questions))


def _gap(answers: AnswerSet, run: AnsweredRun, name: str, split: Mapping[str, Mask]) -> DomainGap:
    assert run.on_image is not None  # noqa: S101 - the caller's choice of runs
    both = np.any(list(split.values()), axis=0) & ~np.isnan(run.scores) & ~np.isnan(run.on_image)
    right = is_right(np.array([run.on_image, run.scores]))
    image, caption = answers.overall(right, both)
    scores = answers.overall(np.array([run.on_image, run.scores]), both)
    cells = PooledChange.of([(right[1], right[0])]).by_picture(answers, split)
    return DomainGap(
        name,
        int(both.sum()),
        number_of(image),
        number_of(caption),
        mean_change(cells),
        number_of(scores[0] - scores[1]),
    )
