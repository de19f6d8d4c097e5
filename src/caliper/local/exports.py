"""Exports the results of runs to sinks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.adapters.exports.report_reader import read_report
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import CaliperError, NotReady, StoreUnavailable
from caliper.core.report import VerdictRow
from caliper.core.run import RunSpec
from caliper.lazy import lazy_module
from caliper.local.coroutine_runner import in_daemon_thread, run_blocking
from caliper.local.directory import RunDirectory
from caliper.local.installation import ask_gateway
from caliper.pipeline.reports.report_files import check_file
from caliper.pipeline.store.runs import END
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.sinks import Results
from caliper.wiring.clock import SystemClock
from caliper.wiring.export_sinks import put_results

if TYPE_CHECKING:
    from caliper.adapters.exports import parquet
else:
    parquet = lazy_module("caliper.adapters.exports.parquet")

Warn = Callable[[str], None]
_LIMIT = 300.0
"""Seconds that a sink may take after a run: it must not hold up the next run."""


async def local_results(directory: RunDirectory, entry: CheckpointEntry | None = None) -> Results:
    """The results of a run directory. Without an `entry`, it is looked up in the suites beside it.

    Raises NotReady if it has no report, and what `RunDirectory.read_spec` raises.
    """
    read = partial(read_file, directory.path)
    results = await asyncio.to_thread(_results, directory.read_spec(), read)
    ended = directory.read_execution().get("finished", "")
    return _of_entry(replace(results, ended=ended), entry or await _entry_of(directory))


def read_file(path: Path, file: str) -> bytes:
    """A file of a run directory. Raises NotReady without it, DataLoss if it was changed later,
    StoreUnavailable.
    """
    end: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        end = json.loads((path / "state" / END).read_bytes())
    try:
        data = (path / file).read_bytes()
    except FileNotFoundError:
        raise NotReady(f"{path} has no {file}: evaluate again to finish it") from None
    except OSError as error:
        raise StoreUnavailable(f"{path / file}: {error.strerror}") from error
    check_file(data, end, str(path / file))
    return data


def read_installed(server: str, run: str, file: str) -> bytes:
    """A file of an installation's run, which may still be running. Raises what
    `RemoteGateway.report` raises.
    """
    return run_blocking(
        ask_gateway(server, lambda gateway: gateway.report(run, file, partial=True))
    )


async def installed_results(server: str, run: str) -> Results:
    """The results of a run of the installation whose gateway is at `server`.

    Raises what `RemoteGateway.get` and `report` raise.
    """
    evaluation = await ask_gateway(server, lambda gateway: gateway.get(run))
    read = partial(read_installed, server, run)
    results = await asyncio.to_thread(_results, evaluation.spec, read)
    ended = evaluation.ended
    return replace(results, ended=ended.isoformat(timespec="seconds") if ended else "")


async def export(results: Results, target: str) -> str:
    """Put results into the sink at NAME[:WHERE] and return the place. Raises what `put_results`
    raises.
    """
    return await in_daemon_thread("caliper-export", lambda: put_results(results, target))


async def export_directory(
    path: Path, targets: Sequence[str], warn: Warn, entry: CheckpointEntry | None = None
) -> None:
    """Export an ended run to the sinks of its run file or suite. Failures are reported with the
    command to retry, and affect nothing else.
    """
    if targets:
        await _export_all(local_results(RunDirectory(path), entry), targets, warn, str(path))


async def export_installed(server: str, run: str, targets: Sequence[str], warn: Warn) -> None:
    """Like `export_directory`, for a run of an installation."""
    if targets:
        results = installed_results(server, run)
        await _export_all(results, targets, warn, f"{run} --server {server}")


async def _export_all(
    results: Awaitable[Results], targets: Sequence[str], warn: Warn, run: str
) -> None:
    again = f"retry with `caliper export {run} --to"
    try:
        finished = await results
    except Exception as error:  # noqa: BLE001 - failed exports do not affect the run
        warn(f"not exported: {_reason(error)}")
        return
    for target in targets:
        name = target.partition(":")[0]
        try:
            async with asyncio.timeout(_LIMIT):
                await export(finished, target)
        except TimeoutError:
            warn(f"not exported to {name}: no answer in {_LIMIT:.0f} s; {again} {target}`")
        except Exception as error:  # noqa: BLE001
            warn(f"not exported to {name}: {_reason(error)}; {again} {target}`")


def _reason(error: Exception) -> str:
    """The error's message; for a defect only its class, as its text may hold anything."""
    return str(error) if isinstance(error, CaliperError) else f"defect: {type(error).__name__}"


def _results(spec: RunSpec, read: Callable[[str], bytes]) -> Results:
    text = read("report.json").decode()
    models = [part.models["captioner"] for part in spec.benchmarks if "captioner" in part.models]
    return Results(
        spec.run_id,
        spec,
        read_report(text, spec.run_id),
        text,
        read,
        partial(_rows, read),
        revision=models[0].revision if models else "",
    )


def _rows(read: Callable[[str], bytes]) -> Iterator[VerdictRow]:
    return parquet.read_rows(read("verdicts.parquet"))


def _of_entry(results: Results, entry: CheckpointEntry | None) -> Results:
    if entry is None:
        return results
    own = entry.checkpoint
    return replace(results, suite=entry.suite, step=own.step, revision=own.revision, tags=own.tags)


async def _entry_of(directory: RunDirectory) -> CheckpointEntry | None:
    """The entry of this run, in the suites beside it; None if there is none."""
    store = DirectoryStore(directory.path.parent / ".suites")
    registry = SuiteRegistry(store, SystemClock())
    for name in await registry.names():
        stored, _ = await registry.entries(name)
        for each in reversed(stored):
            if each.entry.run == directory.path.name:
                return each.entry
    return None
