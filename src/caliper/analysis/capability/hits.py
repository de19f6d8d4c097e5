"""Precision against hit rate (paper 4.2, Tables 3 to 5): is a model right, and does it say much?

A cautious model is right where it says something and says little; a talkative one hits more and
errs more. Per run, the metrics of equations 1 to 3 by task and on average; per task, how both go
together over the runs. Recall is their product, so the table of averages also splits all elements
into stated, wrong and not mentioned.
"""

from __future__ import annotations

from dataclasses import dataclass

from caliper.analysis.agreement import Coefficient
from caliper.analysis.capability.verdict_sets import (
    AVERAGE,
    METRICS,
    Estimates,
    JudgedRun,
    VerdictSet,
    left_out,
    values_of,
)
from caliper.analysis.correlation import estimate_correlation
from caliper.analysis.rankings import RankingPair, compare_rankings

_FEW = "two or more runs are needed to compare precision with hit rate over models"


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The metrics of a run by task, the average over the tasks that all runs have a score in last,
    and how many verdicts have no score.

    `wrong` and `not_mentioned` are what is missing from the average recall, in points.
    """

    name: str
    tasks: dict[str, Estimates]
    unscored: int
    wrong: float | None
    not_mentioned: float | None


@dataclass(frozen=True, slots=True)
class HitCorrelation:
    """How precision and hit rate of a task go together over `runs` that have both."""

    task: str
    runs: int
    pearson: Coefficient
    spearman: Coefficient


@dataclass(frozen=True, slots=True)
class PrecisionAgainstHits:
    """The metrics of all runs, their correlations by task, and the ranking by the average precision
    and by the average hit rate.
    """

    runs: tuple[RunMetrics, ...]
    correlations: tuple[HitCorrelation, ...] = ()
    ranking: RankingPair | None = None
    remark: str = ""


def precision_against_hits(verdicts: VerdictSet) -> PrecisionAgainstHits:
    """The metrics of every run; of two or more also how they go together."""
    runs = tuple(_metrics(run, verdicts) for run in verdicts.runs)
    if len(runs) < 2:
        return PrecisionAgainstHits(runs, remark=_FEW)
    return PrecisionAgainstHits(
        runs,
        tuple(_correlation(task, runs) for task in (*verdicts.tasks, AVERAGE)),
        compare_rankings(_averages(runs, "precision"), _averages(runs, "hit_rate")),
        left_out(verdicts.tasks, verdicts.shared),
    )


def _metrics(run: JudgedRun, verdicts: VerdictSet) -> RunMetrics:
    tasks = {task: run.row(task, *METRICS) for task in verdicts.tasks}
    tasks[AVERAGE] = averages = verdicts.averages[run.name]
    recall, hit_rate = averages["recall"].value, averages["hit_rate"].value
    wrong = silent = None
    if recall is not None and hit_rate is not None:
        wrong, silent = round(hit_rate - recall, 6), round(100 - hit_rate, 6)
    return RunMetrics(run.name, tasks, _unscored(run, verdicts), wrong, silent)


def _unscored(run: JudgedRun, verdicts: VerdictSet) -> int:
    """How many verdicts about captions have no score."""
    counts = (run.estimate("tasks", task, "n_unscored").value for task in verdicts.tasks)
    return sum(round(count) for count in counts if count is not None)


def _averages(runs: tuple[RunMetrics, ...], metric: str) -> dict[str, float]:
    return values_of({run.name: run.tasks[AVERAGE][metric] for run in runs})


def _correlation(task: str, runs: tuple[RunMetrics, ...]) -> HitCorrelation:
    pairs = [
        (run.tasks[task]["precision"].value, run.tasks[task]["hit_rate"].value) for run in runs
    ]
    points = [(x, y) for x, y in pairs if x is not None and y is not None]
    correlation = estimate_correlation([x for x, _ in points], [y for _, y in points], noun="runs")
    return HitCorrelation(task, len(points), correlation.pearson, correlation.spearman)
