"""Compares candidate runs with a base run, wherever the runs are stored.

Memory holds the base (its ledger, tallies, scores of its questions, and its captions unless they
are spilled), one candidate at a time, and the results for earlier candidates: figures, counts,
and the largest flips.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from caliper.analysis.comparability import (
    Distinction,
    check_comparable,
    setup_differences,
    unique_names,
)
from caliper.analysis.compare import Difference, adjust, compare, difference
from caliper.analysis.flips import Flips
from caliper.benchmarks.base import ReportLayout
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.report import Coverage, Figure, Path
from caliper.core.run import REPORTED_STATES, RunSpec, RunState
from caliper.core.tally import Tally
from caliper.pipeline.comparing.flips import Questions, flips
from caliper.pipeline.comparing.shared_questions import (
    SharedTallies,
    Shares,
    TalliedRun,
    shared_tallies,
    shares,
    tallies_shared_with,
)
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.ledger.report import run_status
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.ledger.suspicious_captions import suspicious
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.run_record import read_record
from caliper.pipeline.store.runs import run_store
from caliper.ports.stages import Scores

MOST_CANDIDATES = 20
MOST_FLIPS = 500
FLIPS = 100
Differences = dict[str, dict[Path, Difference]]


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """Options of a comparison. Runs with different setups are refused unless `anyway`, incomplete
    runs unless `partial`. At most `flips` flips are listed per direction and candidate.
    """

    anyway: bool = False
    partial: bool = False
    flips: int = FLIPS


@dataclass(frozen=True, slots=True)
class Side:
    """A compared run: its `state` as in its report, its coverage by benchmark, and the share of
    captions with signs of stuffing (`stuffed`) for benchmarks where that makes figures doubtful.
    """

    run: str
    name: str
    state: RunState
    coverage: Mapping[str, Coverage]
    stuffed: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The lowest coverage among its benchmarks."""
        return min((coverage.share for coverage in self.coverage.values()), default=0.0)


@dataclass(frozen=True, slots=True)
class Part:
    """The differences of a benchmark by path, headline first. `rows` are label and path for each
    row of its first table, in the column that its chart shows. `shares` has the shares of figures
    whose questions not both runs have.
    """

    name: str
    title: str
    headline: Path
    column: str
    rows: tuple[tuple[str, Path], ...]
    figures: Mapping[Path, Difference]
    shares: Mapping[Path, Shares] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Against:
    """A candidate compared with the base; `differing` lists differences beyond the checkpoint."""

    side: Side
    setup_differences: tuple[Distinction, ...]
    parts: tuple[Part, ...]
    flips: Flips


@dataclass(frozen=True, slots=True)
class Comparison:
    """The base, and the candidates compared with it, in their order."""

    base: Side
    candidates: tuple[Against, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """The base and the candidates."""
        return (self.base, *(candidate.side for candidate in self.candidates))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of `sides`: their labels, with the run id where several share a label."""
        return unique_names([side.name for side in self.sides], [side.run for side in self.sides])


def refuse(specs: Sequence[RunSpec], request: ComparisonRequest) -> list[tuple[Distinction, ...]]:
    """The setup differences of each candidate from the base, without reading verdicts.

    Raises NotComparable for runs with different setups, unless `anyway`, and InvalidInput for a
    wrong number of runs or flips.
    """
    if not 2 <= len(specs) <= MOST_CANDIDATES + 1:
        raise InvalidInput(
            f"a base and 1 to {MOST_CANDIDATES} candidates are compared", field="runs"
        )
    if not 0 <= request.flips <= MOST_FLIPS:
        raise InvalidInput(f"0 to {MOST_FLIPS} flips are listed", field="flips")
    base, *others = map(empty_report, specs)
    distinctions = [setup_differences(base, other) for other in others]
    if not request.anyway:
        for differing in distinctions:
            check_comparable(differing)
    return distinctions


async def compare_runs(runs: Sequence[StoredRun], request: ComparisonRequest) -> Comparison:
    """Compare the first run with the others.

    Raises what `refuse` raises, NotReady for a run that is not complete (unless `partial`),
    InvalidInput when something of a run is lost, StoreUnavailable.
    """
    distinctions = refuse([run.spec for run in runs], request)
    candidates = []
    side, base, captions = await _open(runs[0], request)
    tallied, questions = await TalliedRun.of(base), await Questions.of(base)
    for stored, differing in zip(runs[1:], distinctions, strict=True):
        candidate, other, other_captions = await _open(stored, request)
        changes = await questions.changes(other, request.flips)
        shared = await shared_tallies(base, other, changes.left_out)
        parts = await _parts(tallied, await TalliedRun.of(other), shared)
        listed = await flips((base, captions), (other, other_captions), changes)
        candidates.append(Against(candidate, differing, parts, listed))
    return Comparison(side, _adjust_p_values(candidates))


async def _open(stored: StoredRun, request: ComparisonRequest) -> tuple[Side, RunLedger, Captions]:
    """The side to show, the run itself, and its captions."""
    # The record first: if it says that the run ended, the run opened after it is whole.
    record = await read_record(run_store(stored.store, stored.spec.run_id), stored.spec)
    run = await stored.open()
    by_ledger, coverage = run_status(run.spec, run.summary, run.ledger)
    # An earlier release recorded neither start nor end of local runs: use the ledger.
    scores = None if record.started else Scores(by_ledger, ())
    state = record.status(scores).state
    if state in REPORTED_STATES:
        # Evidence may have been lost since: use the ledger's state.
        state = by_ledger
    side = Side(run.run, run.spec.name, state, coverage)
    if not request.partial:
        refuse_partial(f"run {side.run} ({side.name})", side.state, side.share)
    captions = await stored.captions(run)
    return replace(side, stuffed=await _stuffed(run, captions)), run, captions


async def _stuffed(run: RunLedger, captions: Captions) -> dict[str, float]:
    shares = {}
    for part in run.spec.benchmarks:
        texts = captions.get(part.name, {})
        signs = await suspicious(part.name, run.plan, texts, run.ledger)
        if signs.stuffing:
            shares[part.name] = signs.stuffed / signs.examined
        # Yield, so that a cancelled comparison stops here.
        await asyncio.sleep(0)
    return shares


async def open_whole(stored: StoredRun, *, partial: bool = False) -> RunLedger:
    """Open a run. Raises NotReady for one that is not complete, unless `partial`."""
    run = await stored.open()
    if not partial:
        state, coverages = run_status(run.spec, run.summary, run.ledger)
        share = min(coverage.share for coverage in coverages.values())
        refuse_partial(f"run {run.run} ({run.spec.name})", state, share)
    return run


def refuse_partial(run: str, state: str, share: float) -> None:
    """Raise NotReady for a run that is not complete; `share` is its coverage."""
    if state != RunState.COMPLETE:
        raise NotReady(
            f"{run} is {state}, not complete (coverage {share:.1%}). Evaluate it again to complete "
            "it, or add --partial to compare it as it is"
        )


async def _parts(base: TalliedRun, other: TalliedRun, shared: SharedTallies) -> tuple[Part, ...]:
    """The differences for the benchmarks that both runs have."""
    parts = []
    for spec in other.run.spec.benchmarks:
        if spec.name not in base.totals:
            continue
        name, own = spec.name, (base.totals[spec.name], other.totals[spec.name])
        layout = benchmark(name).report(own[1], spec.settings)
        base_figures = _by_path(base.run.spec, name, own[0])
        figures = {}
        for figure in _figures(layout):
            figures[figure.path] = difference(
                figure, *own, base_figures.get(figure.path), shared.get(name)
            )
            # Yield, so that a cancelled comparison stops here.
            await asyncio.sleep(0)
        column, rows = _table(layout, figures)
        # That a question was not drawn says nothing about the checkpoint.
        is_in_part = base.is_in_part or other.is_in_part
        uneven = {} if is_in_part else shares(layout.figures, own, shared.get(name))
        title = benchmark(name).title
        parts.append(Part(name, title, layout.headline, column, rows, figures, uneven))
    return tuple(parts)


def _by_path(spec: RunSpec, name: str, tally: Tally) -> dict[Path, Figure]:
    layout = benchmark(name).report(tally, spec.benchmark(name).settings)
    return {figure.path: figure for figure in layout.figures}


def _figures(layout: ReportLayout) -> list[Figure]:
    """The figures, headline first, the others in their order."""
    return sorted(layout.figures, key=lambda figure: figure.path != layout.headline)


def _table(
    layout: ReportLayout, figures: Mapping[Path, Difference]
) -> tuple[str, tuple[tuple[str, Path], ...]]:
    if not layout.tables:
        return "all figures", tuple((" ".join(path), path) for path in figures)
    table = layout.tables[0]
    column = table.chart or 0
    cells = ((row.label, row.cells[column]) for row in table.rows)
    rows = tuple((label, path) for label, path in cells if path is not None and path in figures)
    return table.columns[column], rows


def _adjust_p_values(candidates: Sequence[Against]) -> tuple[Against, ...]:
    """The candidates with p-values adjusted across all of them."""
    parts = [{part.name: part for part in candidate.parts} for candidate in candidates]
    for name in {name for by_name in parts for name in by_name}:
        with_benchmark = [by_name for by_name in parts if name in by_name]
        adjusted_figures = adjust([by_name[name].figures for by_name in with_benchmark])
        for by_name, figures in zip(with_benchmark, adjusted_figures, strict=True):
            by_name[name] = replace(by_name[name], figures=figures)
    return tuple(
        replace(candidate, parts=tuple(by_name.values()))
        for candidate, by_name in zip(candidates, parts, strict=True)
    )


async def differences(first: TalliedRun, others: Sequence[TalliedRun]) -> list[Differences]:
    """The differences of each of the others from the first run, by benchmark, for the benchmarks
    that both have. The figures are those of the other run's tally, headline first. Raises as
    `TalliedRun.of`.
    """
    shared = await tallies_shared_with(first, others)
    return [_differences(first, *each) for each in zip(others, shared, strict=True)]


def _differences(first: TalliedRun, second: TalliedRun, shared: SharedTallies) -> Differences:
    by_benchmark = {}
    for part in second.run.spec.benchmarks:
        if part.name in first.totals:
            layouts = [
                benchmark(part.name).report(
                    side.totals[part.name], side.run.spec.benchmark(part.name).settings
                )
                for side in (first, second)
            ]
            base, figures = map(_figures, layouts)
            own = first.totals[part.name], second.totals[part.name]
            by_benchmark[part.name] = compare(figures, *own, base, shared.get(part.name))
    return by_benchmark
