"""Runs an evaluation in one process, and writes its execution.json."""

from __future__ import annotations

import platform
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from caliper.adapters.media.bounds import DecoderOptions
from caliper.adapters.models.cost import Cost
from caliper.core.errors import BackendError
from caliper.core.report import Report
from caliper.local.config import RunConfig
from caliper.local.data_fetch import UNWATCHED, FetchWatcher, fetch_data
from caliper.local.directory import RunDirectory
from caliper.local.engine import LocalRun
from caliper.local.exports import export_directory
from caliper.local.reports import find_equal_run, read_report, stored_judgements
from caliper.local.setup import RunSetup, prepare
from caliper.ports.clock import Clock
from caliper.ports.watcher import Watcher
from caliper.wiring.models import Access

_DECODERS = DecoderOptions()


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run: its report, its directory, and the cost of its calls by model.

    `ended_at` is when an earlier process ended the run; None if this one had something to do.
    """

    report: Report
    directory: Path
    ended_at: datetime | None = None
    spent: Mapping[str, Cost] = field(default_factory=dict)


async def evaluate_config(
    config: RunConfig,
    access: Access,
    clock: Clock,
    watching: Callable[[RunSetup], AbstractContextManager[Watcher]],
    decoders: DecoderOptions = _DECODERS,
    fetching: FetchWatcher = UNWATCHED,
) -> RunResult:
    """Fetch, prepare, evaluate and export. While a model's endpoint is down, the result of a
    complete run of an equal configuration.

    Raises what `prepare` and `evaluate` raise.
    """
    try:
        async with prepare(config, access, clock, fetching) as prepared:
            with watching(prepared) as watcher:
                result = await evaluate(prepared, watcher, clock, decoders)
                await export_directory(result.directory, config.export, watcher.on_warning)
                return result
    except BackendError:
        directory = find_equal_run(await fetch_data(config))
        stored = None if directory is None else await read_report(directory)
        if directory is None or stored is None or stored.partial:
            raise
        return ended_result(directory, stored)


async def evaluate(
    setup: RunSetup, watcher: Watcher, clock: Clock, decoders: DecoderOptions = _DECODERS
) -> RunResult:
    """Run to the end, resuming where an earlier process left off. `decoders` are the options for
    decoding the media that a captioner is shown.

    Raises InvalidInput for rows that cannot be planned, ModelChanged, StoreUnavailable and
    StoreFull. The work done by then is kept, and the same call resumes it.
    """
    spec, directory = setup.spec, run_directory(setup)
    start, started = clock.monotonic(), clock.now()
    with directory.claim(spec):
        run = LocalRun(setup, directory, watcher, clock, decoders)
        report = await run.work()
        if run.known:
            return ended_result(directory, report)
        judgements = await stored_judgements(directory, spec)
        reuse = {} if report.reuse is None else {"reuse": asdict(report.reuse)}
        directory.write_execution(
            {
                "run": spec.run_id,
                "state": report.state,
                "started": started.isoformat(timespec="seconds"),
                "finished": clock.now().isoformat(timespec="seconds"),
                "seconds": round(clock.monotonic() - start, 3),
                "jobs": run.jobs,
                "models": {
                    name: spent.to_json() for name, spent in setup.models.room.costs.items()
                },
                "anchors": {name: judgement.to_json() for name, judgement in judgements.items()},
                "warnings": run.warnings,
                **reuse,
                **_environment(),
            }
        )
    return RunResult(report, directory.path, None, setup.models.room.costs)


def ended_result(directory: RunDirectory, report: Report) -> RunResult:
    """The result of a run that an earlier process ended. Raises NewerSchema or InvalidInput."""
    finished = directory.read_execution().get("finished")
    since = None if finished is None else datetime.fromisoformat(finished)
    return RunResult(replace(report, reuse=directory.reuse), directory.path, since)


def run_directory(setup: RunSetup) -> RunDirectory:
    """The run's directory: `--out`, else below `runs/`."""
    if setup.config.out is not None:
        return RunDirectory(setup.config.out)
    return RunDirectory.default(setup.spec)


def _environment() -> dict[str, Any]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "host": platform.node(),
        "python": sys.version.split()[0],
        "peak_memory_mib": round(usage.ru_maxrss / 1024, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
    }
