"""How stable the ranking of runs is (paper 11): over fewer questions, and under other setups.

**Fewer questions.** Of every domain a share of the pictures (or of the questions) is drawn, the
runs are ranked on them, and the ranking is correlated with that on all questions; the paper does
so 10 times for each size. The interval holds 95% of the draws. A draw is part of the whole, so
this says how much less would have done, not what other pictures would give.

**Other setups.** Other readers, other orders of the options (another seed), other settings: the
same models are ranked in each setup. Intervals are those of a correlation over models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from caliper.analysis.agreement import Coefficient
from caliper.analysis.captionqa.answers import AnswerSet, Scores, number_of
from caliper.analysis.rankings import SetupRanking, compare_rankings, kendall, spearman

SHARES = (0.05, 0.1, 0.2, 0.5)
DRAWS = 100
OVERALL = "overall"
UNITS = ("pictures", "questions")
_FEW = "two or more runs are needed to rank them"


@dataclass(frozen=True, slots=True)
class SubsetStability:
    """The ranking on draws of `units` of the pictures or questions against the full one.

    Coefficients are means over draws, with the range of 95% of them; None if all runs have the
    same score, or fewer than two have any. `same_best` is the percentage of draws with the same
    best run.
    """

    scope: str
    unit: str
    share: float
    units: int
    kendall: Coefficient
    spearman: Coefficient
    same_best: float | None


@dataclass(frozen=True, slots=True)
class RankingStability:
    """Stability over fewer questions and under other setups."""

    draws: int
    subsets: tuple[SubsetStability, ...]
    setups: tuple[SetupRanking, ...]
    remark: str = ""


def ranking_stability(
    answers: AnswerSet,
    others: Mapping[tuple[str, ...], AnswerSet],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> RankingStability:
    """The stability of the ranking of `answers`. `others` are setups by what differs in them."""
    ranking = contestants(answers)
    setups = [
        SetupRanking(differing, compare_rankings(ranking, contestants(other)))
        for differing, other in others.items()
    ]
    if len(answers.runs) < 2:
        return RankingStability(draws, (), tuple(setups), _FEW)
    return RankingStability(draws, tuple(_subsets(answers, draws, seed)), tuple(setups))


def contestants(answers: AnswerSet) -> dict[str, float]:
    """The overall score of each run by its name. Runs without a score are left out."""
    scores = zip(answers.runs, answers.overall(answers.scores), strict=True)
    return {run.name: float(score) for run, score in scores if not np.isnan(score)}


@dataclass(frozen=True, slots=True)
class _Stratum:
    """The units of a domain: per run (row) and unit (column) its points, and how many scores."""

    domain: str
    points: Scores
    counts: Scores


def _strata(answers: AnswerSet, unit: str) -> list[_Stratum]:
    strata = []
    for domain, here in answers.domains.items():
        scores = answers.scores[:, here]
        counts = (~np.isnan(scores)).astype(np.float64)
        points = np.where(counts, scores, 0.0)
        if unit == "pictures":
            _, numbers = np.unique(answers.pictures[here], return_inverse=True)
            points, counts = (
                np.array([np.bincount(numbers, weights=row) for row in rows])
                for rows in (points, counts)
            )
        strata.append(_Stratum(domain, points, counts))
    return strata


def _subsets(answers: AnswerSet, draws: int, seed: int) -> Iterator[SubsetStability]:
    for unit in UNITS:
        strata, totals = _strata(answers, unit), set[int]()
        full = _draw(strata, [each.points.shape[1] for each in strata], np.random.default_rng(seed))
        for share in SHARES:
            sizes = [max(1, round(share * each.points.shape[1])) for each in strata]
            if sum(sizes) in totals:
                # So few that a smaller share had the same number.
                continue
            totals.add(sum(sizes))
            # One generator per size, so that no row depends on the others.
            generator = np.random.default_rng([seed, UNITS.index(unit), round(1000 * share)])
            sums = np.array([_draw(strata, sizes, generator) for _ in range(draws)])
            rows = [_overall(answers.reading, each) for each in (full, sums)]
            yield _stability((OVERALL, unit, share, sum(sizes)), rows[0], rows[1])
            if unit == "pictures" and len(strata) > 1:
                for place, (stratum, size) in enumerate(zip(strata, sizes, strict=True)):
                    rows = [_ratio(each[..., place]) for each in (full, sums)]
                    yield _stability((stratum.domain, unit, share, size), rows[0], rows[1])


def _draw(strata: Sequence[_Stratum], sizes: Sequence[int], generator: Generator) -> Scores:
    """The points and counts of some units of each stratum: [points or counts, run, stratum]."""
    units = [
        generator.choice(each.points.shape[1], size, replace=False)
        for each, size in zip(strata, sizes, strict=True)
    ]
    parts = [
        (each.points[:, some].sum(axis=1), each.counts[:, some].sum(axis=1))
        for each, some in zip(strata, units, strict=True)
    ]
    return np.moveaxis(np.array(parts), 0, -1)


def _overall(reading: str, sums: Scores) -> Scores:
    """The overall score of each run, from the result of `_draw` or from those of several draws."""
    if reading == "questions":
        return _ratio(sums.sum(axis=-1))
    shares = _ratio(np.moveaxis(sums, -1, 0))
    scored = ~np.isnan(shares)
    totals = np.where(scored, shares, 0.0).sum(axis=0), scored.sum(axis=0)
    return _ratio(np.stack(totals, axis=-2)) / 100


def _ratio(sums: Scores) -> Scores:
    """Points per count in percent, along the last axis but one; NaN without any count."""
    points, counts = sums[..., 0, :], sums[..., 1, :]
    shares = np.divide(100 * points, counts, out=np.full(points.shape, np.nan), where=counts > 0)
    rounded: Scores = np.round(shares, 6)
    return rounded


def _stability(names: tuple[str, str, float, int], full: Scores, rows: Scores) -> SubsetStability:
    ranked = ~np.isnan(full) & ~np.isnan(rows).any(axis=0)
    full, rows = full[ranked], rows[:, ranked]
    if len(full) < 2:
        return SubsetStability(*names, Coefficient(None), Coefficient(None), None)
    # Several runs may share the first place.
    is_best = (rows == rows.max(axis=1, keepdims=True))[:, full == full.max()]
    same_best = number_of(100 * is_best.any(axis=1).mean())
    coefficients = [_spread(of(full, rows)) for of in (kendall, spearman)]
    return SubsetStability(*names, coefficients[0], coefficients[1], same_best)


def _spread(values: Scores) -> Coefficient:
    """The mean of the draws, and the range of 95% of them."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Coefficient(None)
    bounds = np.percentile(defined, (2.5, 97.5))
    return Coefficient(*(round(float(each), 6) for each in (defined.mean(), *bounds)))
