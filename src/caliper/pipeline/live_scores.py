"""Samples and their outcomes as sums, and sums as scores with the labels of telemetry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from caliper.analysis.intervals import estimate
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item
from caliper.core.report import Figure, Kind, Path
from caliper.core.tally import Sums, Tally
from caliper.pipeline.tracked import TrackedRun
from caliper.ports.telemetry import Score

_WITH_INTERVALS = frozenset({Kind.PROPORTION, Kind.RATIO})

Before = Mapping[int, Outcome | None]
"""Outcomes by index that stand for those of a ledger."""
Samples = Mapping[tuple[str, str], list[Item]]
"""The items of each sample, by benchmark and sample."""


def scores_of(name: str, tally: Tally, settings: Mapping[str, str]) -> dict[tuple[str, str], Score]:
    """The scores of a tally by dimension and metric, with their intervals; counts, spreads and
    the finest divisions of a benchmark are left to reports.
    """
    found = {}
    for figure in benchmark(name).report(tally, settings).figures:
        label = _label(name, figure)
        if label is None:
            continue
        told = estimate(figure, tally)
        if told.value is not None:
            found[label] = Score(told.value, told.low, told.high)
    return found


def _label(name: str, figure: Figure) -> tuple[str, str] | None:
    if figure.kind not in _WITH_INTERVALS:
        return None
    return label_of(name, figure.path)


def label_of(name: str, path: Path) -> tuple[str, str] | None:
    """Dimension and metric of a figure of a benchmark: `tasks.ocr.f1` is f1 of ocr. None for
    figures that only reports have.
    """
    dimension = benchmark(name).dimension(path)
    return None if dimension is None else (dimension, path[-1])


class Reduction:
    """Reduces samples to the sums that scores are made of. Cells of the finer divisions of a
    benchmark, which reports alone tell, are left out: of CaptionQA they are eight in nine.

    Which they are is found out once a cell: figures with intervals are made of it, and none of
    them is a score.
    """

    def __init__(self) -> None:
        self._finer: dict[tuple[str, str], bool] = {}

    def reduced(
        self, run: TrackedRun, name: str, items: Iterable[Item], instead: Before
    ) -> tuple[Tally, int]:
        """What a sample adds by the ledger, with other outcomes `instead`, and its scored
        questions.
        """
        members = [(item, dict(_outcomes(run, item, instead))) for item in items]
        scored = sum(isinstance(one, Scored) for _, found in members for one in found.values())
        settings = run.spec.benchmark(name).settings
        whole = benchmark(name).reduce(members, settings)
        if any((name, cell) not in self._finer for cell in whole):
            self._look(name, whole, settings)
        found = Tally()
        for cell in whole:
            if not self._finer.get((name, cell), False):
                _add_light(found, cell, whole.clusters(cell))
        return found, scored

    def _look(self, name: str, tally: Tally, settings: Mapping[str, str]) -> None:
        for figure in benchmark(name).report(tally, settings).figures:
            if figure.kind not in _WITH_INTERVALS:
                continue
            for cell in figure.cells:
                finer = self._finer.get((name, cell), True)
                self._finer[name, cell] = finer and _label(name, figure) is None


def _add_light(tally: Tally, cell: str, clusters: Mapping[str, Sums]) -> None:
    """Add sums, with whole numbers as int: they are added up in half the time."""
    for cluster, sums in clusters.items():
        light = {
            name: amount.numerator if amount.denominator == 1 else amount
            for name, amount in sums.items()
        }
        tally.add(cell, cluster, **light)


def _outcomes(
    run: TrackedRun, item: Item, instead: Before
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    for index, question, repeat in item.positions():
        outcome = instead[index] if index in instead else run.ledger.outcome(index)
        if outcome is not None:
            yield (question.ordinal, repeat), outcome


def by_sample(items: Iterable[Item]) -> Samples:
    """Items by the sample that they belong to."""
    found: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        found.setdefault((item.benchmark, item.sample), []).append(item)
    return found


def counted(outcomes: Iterable[Outcome | None]) -> tuple[int, dict[str, int]]:
    """How many are scores, and the others by their reason."""
    scored, unscored = 0, dict[str, int]()
    for outcome in outcomes:
        if isinstance(outcome, Scored):
            scored += 1
        elif outcome is not None:
            reason = str(outcome.reason)
            unscored[reason] = unscored.get(reason, 0) + 1
    return scored, unscored
