"""Runs an evaluation in one process, and writes its execution.json."""

from __future__ import annotations

import platform
import resource
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from caliper.adapters.models.cost import Cost
from caliper.core.errors import InvalidInput
from caliper.core.report import Report
from caliper.local.directory import RunDirectory
from caliper.local.engine import LocalRun
from caliper.local.reports import kept_sittings
from caliper.local.setup import RunSetup
from caliper.ports.clock import Clock
from caliper.ports.telemetry import Watcher


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run: its report, its directory, and the cost of its calls by model. `since`
    is when an earlier process ended the run; None if this one had something to do.
    """

    report: Report
    directory: Path
    since: datetime | None = None
    spent: Mapping[str, Cost] = field(default_factory=dict)


async def evaluate(prepared: RunSetup, watcher: Watcher, clock: Clock) -> RunResult:
    """Run to the end, resuming where an earlier process left off.

    Raises InvalidInput for rows that cannot be planned, ModelChanged, StoreUnavailable and
    StoreFull. The work done by then is kept, and the same call resumes it.
    """
    _adopt_stored_spec(prepared)
    spec, directory = prepared.spec, run_directory(prepared)
    start, started = clock.monotonic(), clock.now()
    with directory.claim(spec):
        run = LocalRun(prepared, directory, watcher, clock)
        report = await run.work()
        if run.known:
            return already(directory, report)
        sittings = await kept_sittings(directory, spec)
        reuse = {} if report.reuse is None else {"reuse": asdict(report.reuse)}
        directory.write_execution(
            {
                "run": spec.run_id,
                "state": report.state,
                "started": started.isoformat(timespec="seconds"),
                "finished": clock.now().isoformat(timespec="seconds"),
                "seconds": round(clock.monotonic() - start, 3),
                "jobs": run.published,
                "models": {name: spent.to_json() for name, spent in prepared.room.costs.items()},
                "anchors": {name: sitting.to_json() for name, sitting in sittings.items()},
                "warnings": run.warnings,
                **reuse,
                **_environment(),
            }
        )
    return RunResult(report, directory.path, None, prepared.room.costs)


def already(directory: RunDirectory, report: Report) -> RunResult:
    """The result of a run that an earlier process ended. Raises NewerSchema or InvalidInput."""
    finished = directory.read_execution().get("finished")
    since = None if finished is None else datetime.fromisoformat(finished)
    return RunResult(replace(report, reuse=directory.reuse), directory.path, since)


def _adopt_stored_spec(prepared: RunSetup) -> None:
    """Adopt the stored spec if an earlier commit began the same run."""
    before = replace(prepared, spec=prepared.spec.by_origin)
    with suppress(InvalidInput):
        if run_directory(before).read_spec() == before.spec:
            prepared.spec = before.spec


def run_directory(prepared: RunSetup) -> RunDirectory:
    """The run's directory: `--out`, else below `runs/`."""
    if prepared.config.out is not None:
        return RunDirectory(prepared.config.out)
    return RunDirectory.default(prepared.spec)


def _environment() -> dict[str, Any]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "host": platform.node(),
        "python": sys.version.split()[0],
        "peak_memory_mib": round(usage.ru_maxrss / 1024, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
    }
