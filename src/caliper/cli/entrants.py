"""The runs of a leaderboard, here or of an installation: their reports, and how they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from caliper.adapters.exports.report_reader import read_report
from caliper.analysis.likeness import Distinction, told_apart
from caliper.cli.comparison import refuse_unlike
from caliper.cli.installation import open_gateway
from caliper.core.errors import InvalidInput
from caliper.core.report import Report
from caliper.local.directory import find_run, finished_runs
from caliper.local.reports import read_figures
from caliper.pipeline.comparing.comparison import (
    MOST_CANDIDATES,
    ComparisonRequest,
    Differences,
    differences,
    refuse_partial,
)
from caliper.pipeline.ledger.declaration import declared


@dataclass(frozen=True, slots=True)
class Entrants:
    """`reports` have names that tell them apart; `differing` is what each differs in from the
    first beside the checkpoint. `apart` gives the differences of all runs from the one at a place,
    by their places.
    """

    reports: tuple[Report, ...]
    differing: tuple[tuple[Distinction, ...], ...]
    apart: Callable[[int], Mapping[int, Differences]]


def entrants(runs: Sequence[str], server: str | None, wished: ComparisonRequest) -> Entrants:
    """The runs of these names; without any those below runs/ that have a report.

    Raises InvalidInput where there are none or one is no run, NotComparable for runs that are not
    alike and NotReady for one that is not complete unless either is wished, and what
    `RemoteGateway` raises.
    """
    if server is None:
        return _here(runs, wished)
    if not runs:
        raise InvalidInput("the runs of an installation have to be named", field="RUN")
    return _there(runs, server, wished)


def _here(runs: Sequence[str], wished: ComparisonRequest) -> Entrants:
    directories = [find_run(name) for name in runs] or finished_runs()
    if not directories:
        raise InvalidInput("there is no run with a report below runs/", field="RUN")
    # Before a verdict is read: that takes seconds for each run.
    specs = [directory.read_spec() for directory in directories]
    differing = _alike([declared(spec) for spec in specs], wished)
    reports, totals = [], []
    for directory, spec in zip(directories, specs, strict=True):
        report, tallies = asyncio.run(read_figures(directory))
        _refuse_partial(report, spec.run_id, wished)
        reports.append(report)
        totals.append(tallies)

    def apart(place: int) -> dict[int, Differences]:
        return {
            number: differences(totals[place], totals[number], (specs[place], specs[number]))
            for number in range(len(specs))
            if number != place
        }

    return Entrants(_named(reports, [spec.run_id for spec in specs]), differing, apart)


def _alike(
    reports: Sequence[Report], wished: ComparisonRequest
) -> tuple[tuple[Distinction, ...], ...]:
    first, *others = reports
    return ((), *(refuse_unlike(first, other, anyway=wished.anyway) for other in others))


def _refuse_partial(report: Report, run: str, wished: ComparisonRequest) -> None:
    if not wished.partial:
        refuse_partial(f"run {run} ({report.name})", report.state, report.share)


def _there(runs: Sequence[str], server: str, wished: ComparisonRequest) -> Entrants:
    async def compared(place: int) -> dict[int, Differences]:
        others = [number for number in range(len(runs)) if number != place]
        found: dict[int, Differences] = {}
        # Whether they are alike and complete was looked at before, in their reports.
        anything = ComparisonRequest(anyway=True, partial=True, flips=0)
        async with open_gateway(server) as gateway:
            for start in range(0, len(others), MOST_CANDIDATES):
                some = others[start : start + MOST_CANDIDATES]
                asked = [runs[place], *(runs[number] for number in some)]
                told, _ = await gateway.compare(asked, anything)
                for number, candidate in zip(some, told.candidates, strict=True):
                    found[number] = {part.name: dict(part.figures) for part in candidate.parts}
        return found

    reports = _reports(runs, server)
    differing = _alike(reports, wished)
    for report, run in zip(reports, runs, strict=True):
        _refuse_partial(report, run, wished)
    return Entrants(_named(reports, runs), differing, lambda place: asyncio.run(compared(place)))


def _reports(runs: Sequence[str], server: str) -> list[Report]:
    async def fetched() -> list[bytes]:
        async with open_gateway(server) as gateway:
            return [await gateway.report(run, partial=True) for run in runs]

    texts = asyncio.run(fetched())
    return [read_report(text.decode(), run) for text, run in zip(texts, runs, strict=True)]


def _named(reports: Sequence[Report], runs: Sequence[str]) -> tuple[Report, ...]:
    names = told_apart([report.name for report in reports], runs)
    return tuple(replace(report, name=name) for report, name in zip(reports, names, strict=True))
