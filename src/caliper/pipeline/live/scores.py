"""From outcomes to tallies per sample, and from tallies to scores with telemetry labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from caliper.analysis.intervals import estimate
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Outcome, Reason, Scored
from caliper.core.question import Item
from caliper.core.report import Coverage, Figure, Kind, Path
from caliper.core.tally import Sums, Tally
from caliper.pipeline.ledger.averages import PlannedAverages
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.ports.telemetry import Score

_WITH_INTERVALS = frozenset({Kind.PROPORTION, Kind.RATIO})

Outcomes = Mapping[int, Outcome | None]
"""Outcomes by index that override those of a ledger."""


def scores_of(name: str, tally: Tally, averages: PlannedAverages) -> dict[tuple[str, str], Score]:
    """The scores of a tally by dimension and metric, with intervals.

    Counts, spreads and the finest breakdowns of a benchmark appear in reports only. An average
    that lacks a dimension is left out: a chart over time would join it to another average.
    """
    scores = {}
    for figure in benchmark(name).report(tally, averages.settings(name)).figures:
        label = _label(name, figure)
        if label is None or averages.lacking(name, figure.path, tally):
            continue
        estimated = estimate(figure, tally)
        if estimated.value is not None:
            scores[label] = Score(estimated.value, estimated.low, estimated.high)
    return scores


def _label(name: str, figure: Figure) -> tuple[str, str] | None:
    if figure.kind not in _WITH_INTERVALS:
        return None
    return label_of(name, figure.path)


def label_of(name: str, path: Path) -> tuple[str, str] | None:
    """Dimension and metric of a figure of a benchmark: `tasks.ocr.f1` is f1 of ocr. None for
    figures that appear in reports only.
    """
    dimension = benchmark(name).dimension(path)
    return None if dimension is None else (dimension, path[-1])


class ScoreCells:
    """Selects the cells of a benchmark that scores are computed from.

    Cells of finer breakdowns, which only reports show, are left out: in CaptionQA, eight cells in
    nine. A cell is finer if figures with intervals are computed from it, none of which is a
    score. The answer is cached per cell.
    """

    def __init__(self) -> None:
        self._finer: dict[tuple[str, str], bool] = {}

    def select(self, name: str, tally: Tally, settings: Mapping[str, str]) -> Tally:
        """The part of a tally that scores are computed from."""
        if any((name, cell) not in self._finer for cell in tally):
            self._classify(name, tally, settings)
        part = Tally()
        for cell in tally:
            if not self._finer.get((name, cell), False):
                _add_light(part, cell, tally.clusters(cell))
        return part

    def has_same_scores(self, name: str, tally: Tally, part: Tally) -> bool:
        """Whether `tally` has the same scores as `part`, which `select` returned."""
        return all(tally.clusters(cell) == part.clusters(cell) for cell in part) and all(
            cell in part or self._finer.get((name, cell), False) for cell in tally
        )

    def _classify(self, name: str, tally: Tally, settings: Mapping[str, str]) -> None:
        for figure in benchmark(name).report(tally, settings).figures:
            if figure.kind not in _WITH_INTERVALS:
                continue
            for cell in figure.cells:
                finer = self._finer.get((name, cell), True)
                self._finer[name, cell] = finer and _label(name, figure) is None


def sample_tally(run: RunLedger, items: Sequence[Item], overrides: Outcomes) -> tuple[Tally, int]:
    """The tally of a sample by the ledger's outcomes, with `overrides`, and how many of its
    questions are scored.
    """
    members = [(item, dict(_outcomes(run, item, overrides))) for item in items]
    scored = sum(
        isinstance(outcome, Scored) for _, outcomes in members for outcome in outcomes.values()
    )
    name = items[0].benchmark
    return benchmark(name).reduce(members, run.spec.benchmark(name).settings), scored


def _add_light(tally: Tally, cell: str, clusters: Mapping[str, Sums]) -> None:
    """Add sums, with whole numbers as int: adding those takes half the time of fractions."""
    for cluster, sums in clusters.items():
        light = {
            name: amount.numerator if amount.denominator == 1 else amount
            for name, amount in sums.items()
        }
        tally.add(cell, cluster, **light)


def _outcomes(
    run: RunLedger, item: Item, overrides: Outcomes
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    for index, question, repeat in item.positions():
        outcome = overrides[index] if index in overrides else run.ledger.outcome(index)
        if outcome is not None:
            yield (question.ordinal, repeat), outcome


def question_counts(
    run: RunLedger | None, *, in_memory: bool
) -> Iterator[tuple[str, dict[str, int]]]:
    """The questions of each benchmark by state. Without `in_memory`, a run has no open
    ones.
    """
    if run is None:
        return
    for planned in run.summary.benchmarks:
        scored, reasons = run.ledger.count(planned.first, planned.questions)
        covered = Coverage(planned.questions, scored, reasons)
        total = planned.questions - covered.undrawn
        counts = {"scored": scored, "unscored": sum(reasons.values()) - covered.undrawn}
        counts["open"] = total - sum(counts.values()) if in_memory else 0
        yield planned.name, {**counts, "planned": total}


def count_outcomes(outcomes: Iterable[Outcome]) -> tuple[int, dict[str, int]]:
    """The number of scored outcomes, and of unscored ones by reason; none that were not drawn."""
    scored, unscored = 0, dict[str, int]()
    for outcome in outcomes:
        if isinstance(outcome, Scored):
            scored += 1
        elif outcome.reason is not Reason.NOT_DRAWN:
            reason = str(outcome.reason)
            unscored[reason] = unscored.get(reason, 0) + 1
    return scored, unscored
