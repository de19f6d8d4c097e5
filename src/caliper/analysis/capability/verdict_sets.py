"""The verdicts of several runs about the same annotated elements, as arrays.

A row of an array is a repeat of the judging, a column one element. A score is 1 if the caption
states the element, -1 if it states it wrongly, 0 if it does not mention it, and NaN without a
score. Figures and their intervals are those of the runs' reports.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from caliper.analysis.agreement import Places, cluster_places
from caliper.analysis.finite import of_all
from caliper.analysis.intervals import estimate
from caliper.benchmarks.capability.reporting import report
from caliper.benchmarks.capability.scoring import CAPTION, Cell
from caliper.benchmarks.capability.tasks import NAMES
from caliper.core.preparation import Preparation
from caliper.core.report import Estimate, Figure, Path
from caliper.core.tally import Tally

Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]
Estimates = dict[str, Estimate]
METRICS = ("precision", "recall", "f1", "hit_rate")
AVERAGE = "average"
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class AnnotatedElement:
    """An element that a caption should state: a question about the `sample`'s caption."""

    item: str
    ordinal: int
    task: str
    sample: str
    cluster: str

    @property
    def key(self) -> tuple[str, int]:
        """Its identity in every run over the same data."""
        return self.item, self.ordinal


@dataclass(frozen=True, slots=True, eq=False)
class MediaAnswers:
    """The `elements` that a model was asked about from the media, and whether answers are `right`:
    1 or 0, NaN without a score.
    """

    elements: Mask
    right: Scores


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """The verdicts of one run. `name` is its name among others, `model` the label of its
    checkpoint, `captioner` what wrote its captions and how long they may be, empty if supplied.

    `answers` are None if the model was not asked about the media. `words` and `digests` are the
    length and the hash of each caption by sample. `share` is the share of the questions that was
    drawn, None for all.
    """

    name: str
    model: str
    scores: Scores
    tally: Tally
    answers: MediaAnswers | None = None
    words: Mapping[str, int] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    preparation: Preparation | None = None
    captioner: str = ""
    share: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def figures(self) -> dict[Path, Figure]:
        """The figures of its report by path."""
        return {figure.path: figure for figure in report(self.tally, self.settings).figures}

    def estimate(self, *path: str) -> Estimate:
        """The figure at a path; without a value if the run does not have it."""
        return self.estimate_of(self.figures.get(path))

    def estimate_of(self, figure: Figure | None) -> Estimate:
        """The estimate of a figure of this run."""
        if figure is None:
            return Estimate(None)
        result = rounded(estimate(figure, self.tally))
        return result if self.share is None else of_all(result, self.share)

    def row(self, task: str, *metrics: str) -> Estimates:
        """Some metrics of a task."""
        return {metric: self.estimate("tasks", task, metric) for metric in metrics}

    def average(self, metric: str, tasks: Collection[str]) -> Figure | None:
        """The average of a metric over some tasks."""
        whole = self.figures.get((AVERAGE, metric))
        parts = tuple(part for part in whole.parts if part.dimension in tasks) if whole else ()
        if whole is None or not parts:
            return None
        cells = tuple(cell for part in parts for cell in part.cells)
        return replace(whole, cells=cells, parts=parts, weights=(1 / len(parts),) * len(parts))

    def averages(self, tasks: Collection[str], *metrics: str) -> Estimates:
        """The averages of some metrics over some tasks."""
        return {metric: self.estimate_of(self.average(metric, tasks)) for metric in metrics}

    def has(self, task: str, metric: str) -> bool:
        """Whether a metric of a task has a value."""
        figure = self.figures.get(("tasks", task, metric))
        totals = {cell: self.tally.total(cell) for cell in figure.cells} if figure else {}
        return figure is not None and figure.statistic(totals) is not None

    @property
    def mean_words(self) -> float | None:
        """The mean length of its captions in words."""
        return sum(self.words.values()) / len(self.words) if self.words else None


@dataclass(frozen=True, eq=False)
class VerdictSet:
    """Runs with one setup, apart from their captions and how media were prepared for them."""

    elements: tuple[AnnotatedElement, ...]
    runs: tuple[JudgedRun, ...]

    @cached_property
    def tasks(self) -> dict[str, Mask]:
        """The elements of each task, in the order of the paper's tables."""
        names = np.array([element.task for element in self.elements], dtype=object)
        masks = {name: np.asarray(names == name, dtype=np.bool_) for name in NAMES}
        return {name: mask for name, mask in masks.items() if mask.any()}

    @cached_property
    def clusters(self) -> Places:
        """The place of each element's cluster among their names."""
        return cluster_places([element.cluster for element in self.elements])

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The tasks that every run has a score in: averages are compared over these."""
        return shared_tasks(self.tasks, self.runs)

    @cached_property
    def averages(self) -> dict[str, Estimates]:
        """The averages of each run over the shared tasks, by name."""
        return {run.name: run.averages(self.shared, *METRICS) for run in self.runs}

    def tally(self, scores: Scores, mask: Mask) -> Tally:
        """The sums of some elements, for the figures of CAPability."""
        tally = Tally()
        for repeat, row in enumerate(scores):
            for place in np.flatnonzero(mask & ~np.isnan(row)):
                element, score = self.elements[place], row[place]
                tally.add(
                    Cell(CAPTION, element.task, repeat).name,
                    element.cluster,
                    scored=1,
                    hit=int(score != 0),
                    correct=int(score == 1),
                )
        return tally


def shared_tasks(
    tasks: Iterable[str], runs: Collection[JudgedRun], metric: str = "recall"
) -> tuple[str, ...]:
    """Those of the tasks in which every run has a value of the metric."""
    return tuple(task for task in tasks if all(run.has(task, metric) for run in runs))


def left_out(tasks: Iterable[str], shared: Collection[str]) -> str:
    """The remark on averages over fewer than all tasks; empty if they are over all."""
    others = ", ".join(task for task in tasks if task not in shared)
    return others and f"averages are without {others}: not all runs have a score there"


def rounded(exact: Estimate) -> Estimate:
    """An estimate for people and JSON."""
    value, low, high = (
        None if number is None else round(float(number), _DECIMALS)
        for number in (exact.value, exact.low, exact.high)
    )
    return Estimate(value, low, high, exact.method)


def values_of(runs: Mapping[str, Estimate]) -> dict[str, float]:
    """The values by name, without those that have none."""
    return {name: each.value for name, each in runs.items() if each.value is not None}
