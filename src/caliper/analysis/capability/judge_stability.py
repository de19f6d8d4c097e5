"""How stable the judge is: the same captions judged again, and by other judges (4.3, A.2).

**Repeated judging** (4.3, Fig. 7): per task the greatest figure minus the least over the repeats,
and the mean of these ranges over tasks; beside them how many elements get the same verdict in all
repeats, and Fleiss' kappa. Repeats are those of a run (`--repeats 5`), and replicates of it over
the same captions.

**Several judges** (A.2, Fig. A1): the averages of each model under every judge, how the ranking of
the models changes, and, per task, how far the judges give the same verdicts about the same
captions. Other settings count as another judge; what differs is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from caliper.analysis.agreement import Agreement, Coefficient, RatingTable, agreement_of
from caliper.analysis.capability.rating_tables import LABELS, codes_of, rating_tables
from caliper.analysis.capability.verdict_sets import (
    AVERAGE,
    METRICS,
    Estimates,
    JudgedRun,
    Mask,
    Scores,
    VerdictSet,
    left_out,
    shared_tasks,
    values_of,
)
from caliper.analysis.rankings import RankingPair, compare_rankings
from caliper.benchmarks.capability.metrics import f1_score, mean, precision, share
from caliper.benchmarks.stability import deviation, spread
from caliper.core.tally import Sums

_NONE = (
    "no captions were judged twice (caliper evaluate capability --repeats 5, --replicate 1, or "
    "another --judge)"
)
_OTHER_NAMES = "runs under another judge need the --name that they have under the first one"
_Differing = tuple[str, ...]
_Setups = Sequence[tuple[_Differing, VerdictSet]]


@dataclass(frozen=True, slots=True)
class Fluctuation:
    """A metric over the repeats: a value per repeat, its range, and standard deviation (n - 1).

    Of the average, range and deviation are means over tasks, as in the paper.
    """

    values: tuple[float | None, ...]
    range: float | None
    deviation: float | None

    @property
    def mean(self) -> float | None:
        return mean(self.values)


@dataclass(frozen=True, slots=True)
class TaskStability:
    """The metrics of a task over the repeats, for its `elements` with a verdict in all of them, how
    many have the same in all (`same`), and Fleiss' kappa. The average has those of all elements.
    """

    task: str
    metrics: dict[str, Fluctuation]
    elements: int
    same: Coefficient
    fleiss: Coefficient


@dataclass(frozen=True, slots=True)
class RepeatedJudging:
    """The repeats of one run: by task, the average last."""

    name: str
    repeats: int
    tasks: tuple[TaskStability, ...]


@dataclass(frozen=True, slots=True)
class JudgeAverages:
    """The averages of a model under one judge. `differing` is empty for the first judge."""

    differing: _Differing
    name: str
    metrics: Estimates


@dataclass(frozen=True, slots=True)
class JudgePair:
    """The ranking of the models by each average, under the first judge and under another one.

    `kept` are the metrics by which all models keep their places.
    """

    differing: _Differing
    rankings: dict[str, RankingPair]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far all judges agree on the elements of a task, or on all."""

    task: str
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class JudgeStability:
    """Stability over repeats and over judges."""

    repeated: tuple[RepeatedJudging, ...] = ()
    averages: tuple[JudgeAverages, ...] = ()
    judges: tuple[JudgePair, ...] = ()
    agreements: tuple[JudgeAgreement, ...] = ()
    remark: str = ""


def judge_stability(
    verdicts: VerdictSet, others: Mapping[_Differing, VerdictSet]
) -> JudgeStability:
    """The stability of the verdicts. `others` are setups by what differs in them."""
    repeated = tuple(_repeated(verdicts))
    others = {differing: _paired(verdicts, other) for differing, other in others.items()}
    setups: list[tuple[_Differing, VerdictSet]] = [((), verdicts), *others.items()]
    runs = [run for _, each in setups for run in each.runs]
    shared = shared_tasks(verdicts.tasks, runs) if others else ()
    averages = tuple(_averages(setups, shared)) if others else ()
    tables = rating_tables([each for _, each in setups]) if others else {}
    agreements = tuple(
        JudgeAgreement(task, agreement)
        for task, table in tables.items()
        if (agreement := agreement_of(table)).questions
    )
    judges = tuple(_pair(averages, differing) for differing in others)
    remark = left_out(verdicts.tasks, shared) if others else "" if repeated else _NONE
    if others and not any(ranking.changes for each in judges for ranking in each.rankings.values()):
        remark = _OTHER_NAMES
    return JudgeStability(repeated, averages, judges, agreements, remark)


def _paired(first: VerdictSet, other: VerdictSet) -> VerdictSet:
    """The other runs, named like the first run of the same model and captions."""
    names = {_captioned(run): run.name for run in reversed(first.runs)}
    own = set(names.values())
    runs = (
        run if run.name in own else replace(run, name=names.get(_captioned(run), run.name))
        for run in other.runs
    )
    return replace(other, runs=tuple(runs))


def _captioned(run: JudgedRun) -> tuple[object, ...]:
    """The model and captions of a run; a run whose captions are unknown has its own."""
    return run.model, tuple(sorted(run.digests.items())) or run.name


def _repeated(verdicts: VerdictSet) -> Iterator[RepeatedJudging]:
    """The repeats of each model's captions; replicates over the same captions join in."""
    groups: dict[tuple[object, ...], list[JudgedRun]] = {}
    for run in verdicts.runs:
        groups.setdefault(_captioned(run), []).append(run)
    for runs in groups.values():
        scores = np.concatenate([run.scores for run in runs])
        if len(scores) < 2:
            continue
        scored = ~np.isnan(scores).any(axis=0)
        parts = [
            TaskStability(
                task, _metrics(scores[:, mask & scored]), *_same(verdicts, scores, mask & scored)
            )
            for task, mask in verdicts.tasks.items()
        ]
        whole = TaskStability(AVERAGE, _average(parts), *_same(verdicts, scores, scored))
        yield RepeatedJudging(runs[0].name, len(scores), (*parts, whole))


def _metrics(scores: Scores) -> dict[str, Fluctuation]:
    rows = [_sums(row) for row in scores]
    columns = {
        "precision": [precision(sums) for sums in rows],
        "recall": [share("correct", "scored", sums) for sums in rows],
        "f1": [f1_score(sums) for sums in rows],
        "hit_rate": [share("hit", "scored", sums) for sums in rows],
    }
    return {
        name: Fluctuation(
            tuple(map(_round, values)), _round(spread(values)), _round(deviation(values))
        )
        for name, values in columns.items()
    }


def _sums(scores: Scores) -> Sums:
    return {
        "scored": len(scores),
        "hit": int((scores != 0).sum()),
        "correct": int((scores == 1).sum()),
    }


def _average(parts: Sequence[TaskStability]) -> dict[str, Fluctuation]:
    metrics = {}
    for metric in METRICS:
        columns = [part.metrics[metric] for part in parts]
        values = zip(*(column.values for column in columns), strict=True)
        metrics[metric] = Fluctuation(
            tuple(_round(mean(each)) for each in values),
            _round(mean(column.range for column in columns)),
            _round(mean(column.deviation for column in columns)),
        )
    return metrics


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _same(verdicts: VerdictSet, scores: Scores, mask: Mask) -> tuple[int, Coefficient, Coefficient]:
    rated = RatingTable(LABELS, codes_of(scores[:, mask].T), verdicts.clusters[mask])
    agreement = agreement_of(rated)
    return agreement.questions, agreement.accuracy, agreement.fleiss


def _averages(setups: _Setups, tasks: Collection[str]) -> Iterator[JudgeAverages]:
    names = dict.fromkeys(run.name for _, each in setups for run in each.runs)
    for name in names:
        for differing, verdicts in setups:
            for run in verdicts.runs:
                if run.name == name:
                    yield JudgeAverages(differing, name, run.averages(tasks, *METRICS))


def _pair(averages: Sequence[JudgeAverages], differing: _Differing) -> JudgePair:
    sides = [
        {metric: values_of({each.name: each.metrics[metric] for each in averages
                            if each.differing == setup})
         for metric in METRICS}
        for setup in ((), differing)
    ]  # fmt: skip
    rankings = {metric: compare_rankings(sides[0][metric], sides[1][metric]) for metric in METRICS}
    stable = (
        metric
        for metric, ranking in rankings.items()
        if ranking.changes
        and all(change.place_before == change.place_after for change in ranking.changes)
    )
    return JudgePair(differing, rankings, tuple(stable))
