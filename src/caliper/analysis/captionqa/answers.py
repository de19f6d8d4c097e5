"""The answers of several runs to the same questions, as arrays.

A row of an array is a run, a column one (question, repeat). A score is 1 if the answer is right, 0
if it is wrong, between them if it is "cannot answer" (paper 3.4), and NaN without a score.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from caliper.analysis.agreement import Coefficient
from caliper.analysis.correlation import estimate_correlation
from caliper.analysis.jackknife import jackknife, student
from caliper.benchmarks.captionqa.examination import CAPTION_PROMPTS
from caliper.core.tally import Sums

Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.int_]
Cells = Mapping[str, Mapping[str, Sums]]
Name = TypeVar("Name", bound=Hashable)
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One (question, repeat). `category` is its top category, empty if it has none."""

    sample: str
    ordinal: int
    repeat: int
    cluster: str
    domain: str
    category: str
    has_cannot: bool
    text: str
    expected: str = ""

    @property
    def key(self) -> tuple[str, int, int]:
        """Its identity in every run over the same data."""
        return self.sample, self.ordinal, self.repeat


@dataclass(frozen=True, slots=True, eq=False)
class AnsweredRun:
    """The answers of one run. `model` is the label of its checkpoint, `prompt` the name of its
    caption prompt. `on_image` are the scores of the same questions about the picture, None if they
    were not asked. `words` is the length of each caption, by sample.
    """

    model: str
    prompt: str
    scores: Scores
    on_image: Scores | None = None
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The run's name among others: its model, and any other prompt than the default."""
        return self.model if self.prompt == CAPTION_PROMPTS[0] else f"{self.model}, {self.prompt}"

    @property
    def mean_words(self) -> float | None:
        """The mean length of its captions in words."""
        return sum(self.words.values()) / len(self.words) if self.words else None


@dataclass(frozen=True, eq=False)
class AnswerSet:
    """Runs with one setup, apart from their captions. `reading` is how their overall score is
    defined: the mean over `domains`, or over `questions`.
    """

    questions: tuple[AskedQuestion, ...]
    runs: tuple[AnsweredRun, ...]
    reading: str = "domains"

    @cached_property
    def scores(self) -> Scores:
        """The scores of all runs."""
        rows = [run.scores for run in self.runs]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.questions))

    @cached_property
    def domains(self) -> dict[str, Mask]:
        """The questions of each domain, in order of first appearance."""
        return _split([question.domain for question in self.questions])

    @cached_property
    def categories(self) -> dict[tuple[str, str], Mask]:
        """The questions of each (domain, top category) that has a name."""
        names = [(question.domain, question.category) for question in self.questions]
        return {name: mask for name, mask in _split(names).items() if name[1]}

    @cached_property
    def has_cannot(self) -> Mask:
        """The questions that offer "cannot answer"."""
        return np.array([question.has_cannot for question in self.questions], dtype=np.bool_)

    @cached_property
    def pictures(self) -> Places:
        """The number of each question's cluster."""
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(each.cluster, len(numbers)) for each in self.questions]
        return np.array(places, dtype=np.int_)

    @cached_property
    def samples(self) -> tuple[tuple[str, ...], Places]:
        """The samples, and the number of each question's."""
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(each.sample, len(numbers)) for each in self.questions]
        return tuple(numbers), np.array(places, dtype=np.int_)

    def overall(self, values: Scores, chosen: Mask | None = None) -> Scores:
        """The overall figure of each row of `values`, in percent, over the `chosen` questions."""
        rows = np.atleast_2d(values)
        here = np.ones(rows.shape[1], dtype=np.bool_) if chosen is None else chosen
        if self.reading == "questions":
            return percent(rows[:, here])
        parts = [rows[:, mask & here] for mask in self.domains.values()]
        return percent(np.array([percent(part) / 100 for part in parts]).T)


def _split(names: Sequence[Name]) -> dict[Name, Mask]:
    places: dict[Name, int] = {}
    numbers = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int_)
    return {name: numbers == place for name, place in places.items()}


def percent(rows: Scores) -> Scores:
    """The mean of each row in percent, over the values that it has; NaN without any."""
    scored = ~np.isnan(rows)
    counts = scored.sum(axis=1)
    sums = np.where(scored, rows, 0.0).sum(axis=1)
    means = np.divide(100 * sums, counts, out=np.full(len(rows), np.nan), where=counts > 0)
    rounded: Scores = np.round(means, _DECIMALS)
    return rounded


def is_right(scores: Scores) -> Scores:
    """1 for right answers, 0 for others, NaN without a score."""
    return np.where(np.isnan(scores), np.nan, scores == 1)


def is_cannot(scores: Scores) -> Scores:
    """1 where the reader cannot answer, 0 for other answers, NaN without a score."""
    return np.where(np.isnan(scores), np.nan, (scores > 0) & (scores < 1))


def number_of(value: float) -> float | None:
    """A number for a report: None for NaN."""
    return None if np.isnan(value) else round(float(value), _DECIMALS)


@dataclass(frozen=True, slots=True, eq=False)
class PooledChange:
    """The sum of each question's changes over several pairs of rows, and the number of pairs."""

    changed: Scores
    counted: Scores

    @classmethod
    def of(cls, pairs: Iterable[tuple[Scores, Scores]]) -> PooledChange:
        """The changes from the first row of each pair to its second."""
        changes = np.array([after - before for before, after in pairs])
        scored = ~np.isnan(changes)
        return cls(
            np.where(scored, changes, 0.0).sum(axis=0), scored.sum(axis=0).astype(np.float64)
        )

    def mean(self, mask: Mask) -> float:
        """The mean change over some questions, in points; NaN without any."""
        count = self.counted[mask].sum()
        return float(100 * self.changed[mask].sum() / count) if count else float("nan")

    def by_picture(
        self, answers: AnswerSet, split: Mapping[str, Mask]
    ) -> dict[str, dict[str, Sums]]:
        """The sums by cell and cluster, which is named by its number. Values are 0 or 1."""
        cells: dict[str, dict[str, Sums]] = {}
        for name, mask in split.items():
            here = answers.pictures[mask]
            changed = np.bincount(here, weights=self.changed[mask])
            counted = np.bincount(here, weights=self.counted[mask])
            cells[name] = {
                str(place): {"change": round(changed[place]), "questions": round(counted[place])}
                for place in np.flatnonzero(counted)
            }
        return cells


def mean_change(cells: Cells) -> Coefficient:
    """The mean over cells of their change per question, in points.

    Its interval is Student's with the jackknife's error over clusters; there is none if no cluster
    differs from the others.
    """
    result = jackknife(cells, _mean_change)
    if result is None:
        return Coefficient(None)
    value = round(result.value, _DECIMALS)
    if not result.error:
        return Coefficient(value)
    clusters = {name for by_cluster in cells.values() for name in by_cluster}
    margin = student(len(clusters) - 1) * result.error
    low, high = max(-100.0, result.value - margin), min(100.0, result.value + margin)
    return Coefficient(value, round(low, _DECIMALS), round(high, _DECIMALS))


def _mean_change(totals: Mapping[str, Sums]) -> float | None:
    shares = [
        100 * float(sums["change"]) / float(sums["questions"])
        for sums in totals.values()
        if sums.get("questions")
    ]
    return sum(shares) / len(shares) if shares else None


def correlate(points: Sequence[tuple[float | None, float | None]]) -> Coefficient:
    """Pearson's r of the points that have both values."""
    complete = [(x, y) for x, y in points if x is not None and y is not None]
    return estimate_correlation([x for x, _ in complete], [y for _, y in complete]).pearson
