"""Finds the questions that two runs share, and adds up both runs over them.

A question that only one run has a score of says nothing about their difference. If it counted in
the one run alone, a checkpoint would gain by being silent where it would be wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from caliper.analysis.compare import Tallies
from caliper.core.report import Coverage, Figure, Path
from caliper.core.tally import Tally
from caliper.pipeline.comparing.flips import Questions
from caliper.pipeline.ledger.report import run_status, tallies
from caliper.pipeline.ledger.run_ledger import RunLedger

LeftOut = tuple[set[int], set[int]]
"""Indices in the first and in the second run."""
SharedTallies = Mapping[str, Tallies]
"""Both tallies by benchmark, over the shared questions; empty if these are all that have scores."""
Shares = tuple[float, float]
"""Of the questions that either run has a score of, the share that the first and the second has."""


@dataclass(frozen=True, slots=True)
class TalliedRun:
    """A run, and the tally of each of its benchmarks."""

    run: RunLedger
    totals: Mapping[str, Tally]

    @classmethod
    async def of(cls, run: RunLedger) -> TalliedRun:
        """The tallies of a run. Raises InvalidInput when its plan is lost, StoreUnavailable."""
        return cls(run, await tallies(run.spec, run.plan, run.ledger))

    @property
    def has_gaps(self) -> bool:
        """Whether a planned question has no score."""
        return any(coverage.scored < coverage.planned for coverage in self._coverages)

    @property
    def is_in_part(self) -> bool:
        """Whether only some questions were drawn."""
        return any(coverage.undrawn for coverage in self._coverages)

    @property
    def _coverages(self) -> Collection[Coverage]:
        return run_status(self.run.spec, self.run.summary, self.run.ledger)[1].values()


async def shared_tallies(first: RunLedger, second: RunLedger, left_out: LeftOut) -> SharedTallies:
    """The tallies of two runs without some scores. Raises as `TalliedRun.of`."""
    if not any(left_out):
        return {}
    before, after = [
        await tallies(run.spec, run.plan, run.ledger.without(indices))
        for run, indices in zip((first, second), left_out, strict=True)
    ]
    return {name: (before[name], after[name]) for name in before.keys() & after.keys()}


async def tallies_shared_with(
    first: TalliedRun, others: Iterable[TalliedRun]
) -> list[SharedTallies]:
    """The tallies that a run shares with each of the others. Raises as `TalliedRun.of`."""
    shared, questions = list[SharedTallies](), None
    for other in others:
        if not (first.has_gaps or other.has_gaps):
            shared.append({})
            continue
        questions = questions or await Questions.of(first.run)
        changes = await questions.changes(other.run, 0)
        shared.append(await shared_tallies(first.run, other.run, changes.left_out))
    return shared


def shares(figures: Iterable[Figure], own: Tallies, shared: Tallies | None) -> dict[Path, Shares]:
    """The shares of each figure whose questions not both runs have. Benchmarks whose tallies do not
    count `scored` questions have none.
    """
    found = dict[Path, Shares]()
    if shared is None:
        return found
    for figure in figures:
        first, second = (_scored(figure, tally) for tally in own)
        lost = first - _scored(figure, shared[0]), second - _scored(figure, shared[1])
        if any(lost):
            found[figure.path] = (1 - lost[1] / (second + lost[0]), 1 - lost[0] / (first + lost[1]))
    return found


def _scored(figure: Figure, tally: Tally) -> int:
    return sum(int(tally.total(cell).get("scored", 0)) for cell in figure.cells)
