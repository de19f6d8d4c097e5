"""The runs of a leaderboard, local or on an installation: their reports and differences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from caliper.adapters.exports.report_reader import read_report
from caliper.analysis.comparability import (
    Distinction,
    check_comparable,
    setup_differences,
    unique_names,
)
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.report import Report
from caliper.core.run import RunSpec, RunState
from caliper.local.directory import RunDirectory, find_run
from caliper.local.installation import open_gateway
from caliper.local.reports import finished_runs, read_figures
from caliper.pipeline.comparing.comparison import (
    MOST_CANDIDATES,
    ComparisonRequest,
    Differences,
    differences,
    refuse_partial,
)
from caliper.pipeline.ledger.declaration import empty_report


@dataclass(frozen=True, slots=True)
class Entrants:
    """The runs of a leaderboard.

    `reports` have distinct names. `setup_differences` lists how each run differs from the first
    besides the checkpoint. `differences_from` takes the index of a run and gives the differences of
    all others from it, by index.
    """

    reports: tuple[Report, ...]
    setup_differences: tuple[tuple[Distinction, ...], ...]
    differences_from: Callable[[int], Awaitable[Mapping[int, Differences]]]


async def entrants(
    runs: Sequence[str],
    server: str | None,
    request: ComparisonRequest,
    warn: Callable[[str], None] = lambda _: None,
) -> Entrants:
    """The runs with these names; without names, all runs below runs/ that have a report, with a
    warning for each that cannot be read.

    Raises InvalidInput if there are none or one is not a run; NotComparable for runs that differ
    and NotReady for an incomplete one, unless `request` allows them; and what `RemoteGateway`
    raises.
    """
    if server is None:
        found = [(run, run.read_spec()) for run in map(find_run, runs)] or [
            (run, spec) for run, spec in finished_runs(warn) if not _is_in_part(spec)
        ]
        return await _local_runs(found, request)
    if not runs:
        raise InvalidInput("the runs of an installation have to be named", field="RUN")
    return await _remote_runs(runs, server, request)


async def _local_runs(
    runs: Sequence[tuple[RunDirectory, RunSpec]], request: ComparisonRequest
) -> Entrants:
    if not runs:
        raise InvalidInput("there is no run with a report below runs/", field="RUN")
    # Check before reading verdicts, which takes seconds per run.
    specs = [spec for _, spec in runs]
    differing = _refuse_unlike([empty_report(spec) for spec in specs], request)
    reports, tallied = [], []
    for directory, spec in runs:
        report, run = await read_figures(directory)
        _refuse_partial(report, spec.run_id, request)
        reports.append(report)
        tallied.append(run)

    async def apart(place: int) -> dict[int, Differences]:
        others = [number for number in range(len(specs)) if number != place]
        found = await differences(tallied[place], [tallied[number] for number in others])
        return dict(zip(others, found, strict=True))

    return Entrants(_with_names(reports, [spec.run_id for spec in specs]), differing, apart)


def _is_in_part(spec: RunSpec) -> bool:
    return spec.judge_share is not None or bool(spec.judging)


def _refuse_unlike(
    reports: Sequence[Report], request: ComparisonRequest
) -> tuple[tuple[Distinction, ...], ...]:
    first, *others = reports
    distinctions = [setup_differences(first, other) for other in others]
    if not request.anyway:
        for differing in distinctions:
            check_comparable(differing)
    return ((), *distinctions)


def _refuse_partial(report: Report, run: str, request: ComparisonRequest) -> None:
    if "judge_share" in report.spec or report.state == RunState.DECIDED:
        raise NotReady(f"run {run} ({report.name}) is judged in part: it is never ranked")
    if not request.partial:
        refuse_partial(f"run {run} ({report.name})", report.state, report.share)


async def _remote_runs(runs: Sequence[str], server: str, request: ComparisonRequest) -> Entrants:
    async def compared(place: int) -> dict[int, Differences]:
        others = [number for number in range(len(runs)) if number != place]
        by_number: dict[int, Differences] = {}
        # The reports were already checked.
        anything = ComparisonRequest(anyway=True, partial=True, flips=0)
        async with open_gateway(server) as gateway:
            for start in range(0, len(others), MOST_CANDIDATES):
                some = others[start : start + MOST_CANDIDATES]
                names = [runs[place], *(runs[number] for number in some)]
                comparison, _ = await gateway.compare(names, anything)
                for number, candidate in zip(some, comparison.candidates, strict=True):
                    by_number[number] = {part.name: dict(part.figures) for part in candidate.parts}
        return by_number

    reports = await _reports(runs, server)
    differing = _refuse_unlike(reports, request)
    for report, run in zip(reports, runs, strict=True):
        _refuse_partial(report, run, request)
    return Entrants(_with_names(reports, runs), differing, compared)


async def _reports(runs: Sequence[str], server: str) -> list[Report]:
    async with open_gateway(server) as gateway:
        texts = [await gateway.report(run, partial=True) for run in runs]
    return [read_report(text.decode(), run) for text, run in zip(texts, runs, strict=True)]


def _with_names(reports: Sequence[Report], runs: Sequence[str]) -> tuple[Report, ...]:
    names = unique_names([report.name for report in reports], runs)
    return tuple(replace(report, name=name) for report, name in zip(reports, names, strict=True))
