"""Tries the checks of a policy on a run and its replicate: the same captions, judged twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from caliper.analysis.gate import Check, Policy
from caliper.analysis.sequential import Redraws, StopCheck, Unit, redraw
from caliper.analysis.sequential.strata import Scores
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Scored
from caliper.core.question import Source
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.pipeline.comparing.comparison import open_whole
from caliper.pipeline.comparing.figure_strata import MEASURES, stratum_weights
from caliper.pipeline.ledger.report import tallies
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun


@dataclass(frozen=True, slots=True)
class CheckTrial:
    """The trial of a policy's check on one figure, with its margin in the figure's unit; without
    `redraws`, `reason` says why it could not be tried.
    """

    check: Check
    figure: str
    margin: float = 0.0
    redraws: Redraws | None = None
    reason: str = ""


async def try_policy(
    runs: tuple[StoredRun, StoredRun], policy: Policy, redraws: int
) -> list[CheckTrial]:
    """Try every check on every figure that it matches.

    Raises InvalidInput unless the second run is a replicate of the first with the same supplied
    captions, NotReady for a run that is not complete, and what opening a run raises.
    """
    _refuse(runs[0].spec, runs[1].spec)
    first, second = [await open_whole(run) for run in runs]
    units = await _units(first)
    verdicts = _scores(first, units), _scores(second, units)
    totals = await tallies(first.spec, first.plan, first.ledger)
    trials = []
    for check in policy.checks:
        matches = _matching(check, first.spec, totals, units)
        if not matches:
            trials.append(CheckTrial(check, check.figure, reason="no such mean, precision or F1"))
        for stop, margin in matches:
            if not margin:
                reason = "no drop is allowed, so there is no margin to try"
                trials.append(CheckTrial(check, stop.name, reason=reason))
                continue
            redrawn = await asyncio.to_thread(redraw, units, stop, verdicts, policy.level, redraws)
            trials.append(CheckTrial(check, stop.name, margin, redrawn))
    return trials


def _refuse(first: RunSpec, second: RunSpec) -> None:
    alike = [replace(spec, name="", replicate=0) for spec in (first, second)]
    if alike[0] != alike[1] or first.replicate == second.replicate:
        raise InvalidInput(
            "not a run and its replicate: evaluate the same captions again with --replicate 1",
            field="runs",
        )
    for part in first.benchmarks:
        if part.captions is None:
            raise InvalidInput(
                f"a model wrote captions of {part.name} in each run: supply the same to both",
                field="runs",
            )


async def _units(run: RunLedger) -> list[Unit]:
    """The questions about captions; strata are `benchmark/task` or `benchmark/domain`."""
    units = []
    async for items in run.plan():
        for item in items:
            if item.source is Source.CAPTION:
                stratum = f"{item.benchmark}/{benchmark(item.benchmark).group(item)}"
                units += [Unit(index, stratum, item.cluster) for index, _, _ in item.positions()]
    return units


def _scores(run: RunLedger, units: Sequence[Unit]) -> Scores:
    outcomes = ((unit.index, run.ledger.outcome(unit.index)) for unit in units)
    return {
        index: float(outcome.score) if isinstance(outcome, Scored) else None
        for index, outcome in outcomes
    }


def _matching(
    check: Check, spec: RunSpec, totals: Mapping[str, Tally], units: Sequence[Unit]
) -> list[tuple[StopCheck, float]]:
    """The figures that a check matches, each with its margin in the figure's unit."""
    if check.benchmark not in totals:
        return []
    tally, sizes = totals[check.benchmark], Counter(unit.stratum for unit in units)
    layout = benchmark(check.benchmark).report(tally, spec.benchmark(check.benchmark).settings)
    matches = []
    for figure in layout.figures:
        name, measure = ".".join(figure.path), MEASURES.get(figure.path[-1])
        weights = stratum_weights(check.benchmark, figure, sizes, layout, tally)
        is_known = bool(weights) and sizes.keys() >= weights.keys()
        if measure is not None and is_known and fnmatchcase(name, check.figure):
            value = figure.statistic({cell: tally.total(cell) for cell in figure.cells})
            margin = check.margin(value)
            matches.append((StopCheck(name, weights, measure, margin / figure.scale), margin))
    return matches
