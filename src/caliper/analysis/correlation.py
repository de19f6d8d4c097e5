"""How well a metric agrees with people, over models (CompreCap, Table 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r, Kendall's tau (b, which allows for ties) and Spearman's rho, each -1 to 1."""

    pearson: float
    kendall: float
    spearman: float


def correlation(metric: Sequence[float], human: Sequence[float]) -> Correlation:
    """The agreement of a metric with human scores, one value a model in both, in one order.

    Raises ValueError for fewer than two models, for lengths that differ, and where one of the
    two gives all models the same value, so that nothing can be said.
    """
    if len(metric) != len(human) or len(metric) < 2:
        raise ValueError(f"{len(metric)} values of the metric, {len(human)} human scores")
    if min(len(set(metric)), len(set(human))) < 2:
        raise ValueError("all models have the same value")
    return Correlation(
        float(stats.pearsonr(metric, human).statistic),
        float(stats.kendalltau(metric, human).statistic),
        float(stats.spearmanr(metric, human).statistic),
    )
