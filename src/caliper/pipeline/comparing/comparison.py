"""Several runs set beside the first: one way to do it, wherever the runs are kept.

In memory are the base (its ledger, tallies, the scores of its questions, and its captions unless
they are spilled), one other run at a time, and what is told of those that came before: figures,
counts, and the largest flips.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from caliper.analysis.compare import Difference, adjusted, compare, difference
from caliper.analysis.flips import Flips
from caliper.analysis.likeness import Distinction, between, refuse_unlike, told_apart
from caliper.benchmarks.base import ReportLayout
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.report import Coverage, Figure, Path
from caliper.core.run import RunSpec, RunState
from caliper.core.tally import Tally
from caliper.pipeline.comparing.flips import Questions, flips
from caliper.pipeline.ledger.declaration import declared
from caliper.pipeline.ledger.report import standing, suspicious, tallies
from caliper.pipeline.ledger.run_ledger import RunLedger, StoredRun
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
    """How to compare: runs that are not alike, and runs that are not complete, are refused
    otherwise.
    `flips` are listed at most in each direction and of each candidate.
    """

    anyway: bool = False
    partial: bool = False
    flips: int = FLIPS


@dataclass(frozen=True, slots=True)
class Side:
    """A run that is compared: `state` as its report has it, coverage by benchmark, and the share of
    captions with signs of stuffing, of the benchmarks where it is too large to go by figures.
    """

    run: str
    name: str
    state: RunState
    coverage: Mapping[str, Coverage]
    stuffed: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The least coverage of its benchmarks."""
        return min((coverage.share for coverage in self.coverage.values()), default=0.0)


@dataclass(frozen=True, slots=True)
class Part:
    """The differences of one benchmark by path, headline first. `rows` are those of its first
    table, in the column that its chart draws: a label and a path each.
    """

    name: str
    title: str
    headline: Path
    column: str
    rows: tuple[tuple[str, Path], ...]
    figures: Mapping[Path, Difference]


@dataclass(frozen=True, slots=True)
class Against:
    """A candidate against the base; `differing` is what they differ in beside the checkpoint."""

    side: Side
    differing: tuple[Distinction, ...]
    parts: tuple[Part, ...]
    flips: Flips


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first run, and what the others are against it, in their order."""

    base: Side
    candidates: tuple[Against, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """The base and the candidates."""
        return (self.base, *(candidate.side for candidate in self.candidates))

    @property
    def names(self) -> tuple[str, ...]:
        """What `sides` are called: their labels, with the run id where one label is several's."""
        return told_apart([side.name for side in self.sides], [side.run for side in self.sides])


def refuse(specs: Sequence[RunSpec], wished: ComparisonRequest) -> list[tuple[Distinction, ...]]:
    """What each candidate differs in from the first, before a verdict of theirs is read.

    Raises NotComparable for runs that are not alike, unless that is wished `anyway`, and
    InvalidInput for too many of them or for more flips than are ever listed.
    """
    if not 2 <= len(specs) <= MOST_CANDIDATES + 1:
        raise InvalidInput(
            f"a base and 1 to {MOST_CANDIDATES} candidates are compared", field="runs"
        )
    if not 0 <= wished.flips <= MOST_FLIPS:
        raise InvalidInput(f"0 to {MOST_FLIPS} flips are listed", field="flips")
    base, *others = map(declared, specs)
    found = [between(base, other) for other in others]
    if not wished.anyway:
        for differing in found:
            refuse_unlike(differing)
    return found


async def compare_runs(runs: Sequence[StoredRun], wished: ComparisonRequest) -> Comparison:
    """The first run and the others against it.

    Raises what `refuse` raises, NotReady for a run that is not complete (unless `partial` is
    wished), InvalidInput when something of a run is lost, StoreUnavailable.
    """
    found = refuse([run.spec for run in runs], wished)
    candidates = []
    side, base, captions = await _opened(runs[0], wished)
    totals, questions = await tallies(base.spec, base.plan, base.ledger), await Questions.of(base)
    for stored, differing in zip(runs[1:], found, strict=True):
        candidate, other, theirs = await _opened(stored, wished)
        parts = await _parts(other, base.spec, totals)
        changes = await questions.changes(other, wished.flips)
        told = await flips((base, captions), (other, theirs), changes)
        candidates.append(Against(candidate, differing, parts, told))
    return Comparison(side, _together(candidates))


async def _opened(stored: StoredRun, wished: ComparisonRequest) -> tuple[Side, RunLedger, Captions]:
    """The run as it is told, the run itself, and its captions."""
    # First: what is opened holds all that the run had when it ended.
    record = await read_record(run_store(stored.store, stored.spec.run_id), stored.spec)
    run = await stored.open()
    by_ledger, coverage = standing(run.spec, run.summary, run.ledger)
    # A release before noted no start of a local run, and no end: its ledger tells.
    told = None if record.started else Scores(by_ledger, ())
    state = record.status(told).state
    if state in (RunState.FINISHED, RunState.COMPLETE):
        # Unless what it rests on was lost since.
        state = by_ledger
    side = Side(run.run, run.spec.name, state, coverage)
    if not wished.partial:
        refuse_partial(f"run {side.run} ({side.name})", side.state, side.share)
    captions = await stored.captions(run)
    return replace(side, stuffed=await _stuffed(run, captions)), run, captions


async def _stuffed(run: RunLedger, captions: Captions) -> dict[str, float]:
    shares = {}
    for part in run.spec.benchmarks:
        found = await suspicious(part.name, run.plan, captions.get(part.name, {}))
        if found.stuffing:
            shares[part.name] = found.stuffed / found.examined
        # Whoever waits for the comparison may have left.
        await asyncio.sleep(0)
    return shares


def refuse_partial(run: str, state: str, share: float) -> None:
    """Raise NotReady for a run that is not complete; `share` is its coverage."""
    if state != RunState.COMPLETE:
        raise NotReady(
            f"{run} is {state}, not complete (coverage {share:.1%}). Evaluate it again to complete "
            "it, or add --partial to compare what there is"
        )


async def _parts(
    other: RunLedger, spec_of_base: RunSpec, base: Mapping[str, Tally]
) -> tuple[Part, ...]:
    """The benchmarks that both ran."""
    totals = await tallies(other.spec, other.plan, other.ledger)
    found = []
    for spec in other.spec.benchmarks:
        if spec.name not in base:
            continue
        layout = benchmark(spec.name).report(totals[spec.name], spec.settings)
        theirs = _by_path(spec_of_base, spec.name, base[spec.name])
        figures = {}
        for figure in _figures(layout):
            figures[figure.path] = difference(
                figure, base[spec.name], totals[spec.name], theirs.get(figure.path)
            )
            # Whoever waits for the comparison may have left.
            await asyncio.sleep(0)
        column, rows = _table(layout, figures)
        title = benchmark(spec.name).title
        found.append(Part(spec.name, title, layout.headline, column, rows, figures))
    return tuple(found)


def _by_path(spec: RunSpec, name: str, tally: Tally) -> dict[Path, Figure]:
    layout = benchmark(name).report(tally, spec.benchmark(name).settings)
    return {figure.path: figure for figure in layout.figures}


def _figures(layout: ReportLayout) -> list[Figure]:
    """The headline first, the others in their order."""
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


def _together(candidates: Sequence[Against]) -> tuple[Against, ...]:
    """The candidates with their p-values adjusted for one another."""
    parts = [{part.name: part for part in candidate.parts} for candidate in candidates]
    for name in {name for held in parts for name in held}:
        those = [held for held in parts if name in held]
        together = adjusted([held[name].figures for held in those])
        for held, figures in zip(those, together, strict=True):
            held[name] = replace(held[name], figures=figures)
    return tuple(
        replace(candidate, parts=tuple(held.values()))
        for candidate, held in zip(candidates, parts, strict=True)
    )


def differences(
    first: Mapping[str, Tally], second: Mapping[str, Tally], specs: tuple[RunSpec, RunSpec]
) -> Differences:
    """The differences of every figure by benchmark, for the benchmarks that both ran. The figures
    are those of the second run's tally, headline first.
    """
    found = {}
    for part in specs[1].benchmarks:
        if part.name in first:
            layouts = [
                benchmark(part.name).report(tally[part.name], spec.benchmark(part.name).settings)
                for tally, spec in zip((first, second), specs, strict=True)
            ]
            base, figures = map(_figures, layouts)
            found[part.name] = compare(figures, first[part.name], second[part.name], base)
    return found
