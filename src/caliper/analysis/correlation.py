"""How well a metric agrees with people, over models (CompreCap, Table 3).

Intervals are at 95 %, by a bootstrap over the models: with the ten that a paper compares they
are wide, and say how much ten models can tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from caliper.analysis.agreement import Coefficient

Numbers = NDArray[np.float64]
DRAWS = 1000
_LOW, _HIGH = 2.5, 97.5
_DECIMALS = 6
_UNKNOWN = Coefficient(None)


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r, Kendall's tau (b, which allows for ties) and Spearman's rho, each -1 to 1."""

    pearson: float
    kendall: float
    spearman: float


@dataclass(frozen=True, slots=True)
class Correlated:
    """The same over so many models with their intervals; None where nothing can be said."""

    models: int
    pearson: Coefficient = _UNKNOWN
    kendall: Coefficient = _UNKNOWN
    spearman: Coefficient = _UNKNOWN


def correlation(metric: Sequence[float], human: Sequence[float]) -> Correlation:
    """The agreement of a metric with human scores, one value a model in both, in one order.

    Raises ValueError for fewer than two models, for lengths that differ, and where one of the
    two gives all models the same value, so that nothing can be said.
    """
    if len(metric) != len(human) or len(metric) < 2:
        raise ValueError(f"{len(metric)} values of the metric, {len(human)} human scores")
    if min(len(set(metric)), len(set(human))) < 2:
        raise ValueError("all models have the same value")
    from scipy import stats  # noqa: PLC0415 - as long to import as a short command takes

    return Correlation(
        float(stats.pearsonr(metric, human).statistic),
        float(stats.kendalltau(metric, human).statistic),
        float(stats.spearmanr(metric, human).statistic),
    )


def correlated(metric: Sequence[float], human: Sequence[float], seed: int = 0) -> Correlated:
    """`correlation` with intervals drawn by `seed`; without coefficients where it would raise
    for having nothing to say. Raises ValueError for lengths that differ.
    """
    models = len(metric)
    if models == len(human) and (models < 2 or min(len(set(metric)), len(set(human))) < 2):
        return Correlated(models)
    found = correlation(metric, human)
    from scipy import stats  # noqa: PLC0415 - see above

    places = np.random.default_rng(seed).integers(0, models, (DRAWS, models))
    first, second = (np.asarray(values, dtype=float)[places] for values in (metric, human))
    ranks = (stats.rankdata(drawn, axis=1) for drawn in (first, second))
    return Correlated(
        models,
        _bounded(found.pearson, _pearson(first, second)),
        _bounded(found.kendall, _kendall(first, second)),
        _bounded(found.spearman, _pearson(*ranks)),
    )


def _bounded(value: float, drawn: Numbers) -> Coefficient:
    """Draws in which one of the two gives all the same value tell nothing."""
    known = drawn[np.isfinite(drawn)]
    if not len(known):
        return Coefficient(round(value, _DECIMALS))
    low, high = (float(bound) for bound in np.percentile(known, (_LOW, _HIGH)))
    bounds = (value, min(value, low), max(value, high))
    return Coefficient(*(round(number, _DECIMALS) for number in bounds))


def _pearson(first: Numbers, second: Numbers) -> Numbers:
    """Pearson's r of each row."""
    x, y = (rows - rows.mean(axis=1, keepdims=True) for rows in (first, second))
    # What is left of equal numbers by rounding is no variance.
    x, y = (np.where(np.ptp(rows, axis=1, keepdims=True) > 0, rows, 0) for rows in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.asarray(np.clip(found, -1, 1), dtype=float)


def _kendall(first: Numbers, second: Numbers) -> Numbers:
    """Kendall's tau-b of each row: over pairs of models, by which of the two is greater."""
    found = np.full(len(first), math.nan)
    for place, (x, y) in enumerate(zip(first, second, strict=True)):
        over, under = (np.sign(row[:, None] - row[None, :]) for row in (x, y))
        both = math.sqrt((over**2).sum() * (under**2).sum())
        if both:
            found[place] = (over * under).sum() / both
    return found
