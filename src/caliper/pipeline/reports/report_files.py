"""The report files of a finished run, written by sinks and put into the store."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.outcome import Scored
from caliper.core.question import Item, Source
from caliper.core.report import Estimate, Report
from caliper.core.run import BenchmarkSpec, RunSpec, RunState
from caliper.pipeline.asking.reuse import with_reuse
from caliper.pipeline.ledger.report import verdict_rows, with_captions
from caliper.pipeline.ledger.run_ledger import CaptionsOf, RunLedger
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.judge_check import read_judgements, with_checks
from caliper.pipeline.reports.outputs import Rows, cache_rows, write_outputs
from caliper.pipeline.store.disk_spill import SpilledTexts, temporary_files, temporary_folder
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import END, read_replaceable, run_store
from caliper.pipeline.store.supplies import caption_key, read_captions, read_own_captions
from caliper.ports.storage import ObjectStore, ReportSink

_LOG = logging.getLogger(__name__)
REPORT = "report.json"
_FEW_QUESTIONS = 15_000
"""Up to this many questions, all verdicts of a run are cached in memory: about 25 MiB."""

SinksOf = Callable[[RunSpec, Captions], Sequence[ReportSink]]
"""Returns the sinks for a run's files. The first, for report.json, needs no rows."""

TextsOf = Callable[[str, BenchmarkSpec], Awaitable[Mapping[str, str]]]
"""Finds the captions of one benchmark of a run, by sample."""


class ReportFiles:
    """Writes `report/<file>` of a run to the store, or into `folder` if given.

    report.json comes last: if it exists, so do the others. `complete` adds the parts of a report
    that do not follow from plan and outcomes, and `plain` returns the sinks of files without
    pictures.
    """

    def __init__(
        self,
        captions: CaptionsOf,
        sinks: SinksOf,
        folder: Path | None = None,
        complete: Callable[[Report], Report] = lambda report: report,
        plain: SinksOf | None = None,
    ) -> None:
        self._captions = captions
        self._sinks, self._plain = sinks, plain or sinks
        self._folder, self._complete = folder, complete

    async def write(
        self,
        run: RunLedger,
        ending: RunState,
        live: LiveTallies,
        spending: AbstractContextManager[None],
        *,
        pictures: bool = True,
    ) -> tuple[RunState, str] | None:
        """Write the files, with the figures of `live`. Returns the state in the report and the
        SHA-256 of report.json; the run notes those of all `files`.

        Returns None, with nothing stored, if the ledger changed meanwhile. `spending` is entered
        while the work is done, not while waiting for `live.turn`. Raises InvalidInput when plan
        or evidence are lost, StoreUnavailable or StoreFull.
        """
        # Captions first, so that no reported outcome was judged on a newer caption than these.
        changes = run.ledger.changes
        with temporary_files():
            captions = await self._captions(run)
        with ExitStack() as stack:
            stack.enter_context(temporary_files())
            async with live.turn:
                stack.enter_context(spending)
                _, figures = await live.figures(run)
            report = await with_captions(figures, run.spec, run.plan, run.ledger, captions)
            report = await with_reuse(report, run.spec, captions, run.store)
            run.reuse = report.reuse
            report = with_checks(report, await read_judgements(run.store, run.spec))
            if ending is not RunState.FINISHED:
                report = replace(report, state=str(ending))
            report = self._complete(report)
            folder = self._folder or stack.enter_context(temporary_folder("caliper-report-"))
            sinks = (self._sinks if pictures else self._plain)(run.spec, captions)
            rows: Rows = partial(verdict_rows, run.spec, run.plan, run.ledger)
            if run.summary.questions <= _FEW_QUESTIONS:
                rows = cache_rows(rows)
            files = await write_outputs(sinks, report, rows, folder)
            if run.ledger.changes != changes:
                return None
            if self._folder is None:
                await _keep(run.store, files)
            run.files = {file.name: await asyncio.to_thread(file_digest, file) for file in files}
            return RunState(report.state), run.files.get(REPORT, "")


async def _keep(store: ObjectStore, files: Sequence[Path]) -> None:
    """Put the files into the store, report.json last."""
    for file in sorted(files, key=lambda file: file.name == REPORT):
        await store.put(f"report/{file.name}", file)


def file_digest(file: Path) -> str:
    """The SHA-256 of a file. Raises OSError."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


async def captions_of_run(texts_of: TextsOf, run: RunLedger) -> Captions:
    """The captions of the planned samples of a run, in plan order: spilled to disk, unless
    `texts_of` has them in memory as a dict.

    Raises what `texts_of` raises, and DataLoss if an examined caption is gone.
    """
    texts = {part.name: await texts_of(run.run, part) for part in run.spec.benchmarks}
    planned: dict[str, dict[str, str] | SpilledTexts] = {
        name: {} if isinstance(source, dict) else SpilledTexts() for name, source in texts.items()
    }
    async for items in run.plan():
        for name, of_plan in planned.items():
            samples = dict.fromkeys(item.sample for item in items if item.benchmark == name)
            captions = {sample: texts[name].get(sample) for sample in samples}
            for item in items:
                if item.benchmark == name and captions[item.sample] is None:
                    _refuse_lost(run, item)
            of_plan.update((sample, text) for sample, text in captions.items() if text is not None)
    return {name: of_plan for name, of_plan in planned.items() if of_plan}


def _refuse_lost(run: RunLedger, item: Item) -> None:
    """Raise DataLoss if an item without a caption was scored by a captioner's caption."""
    written = run.spec.benchmark(item.benchmark).captions is None
    outcomes = run.ledger.outcomes(item).values()
    if written and item.source is Source.CAPTION and any(isinstance(o, Scored) for o in outcomes):
        raise DataLoss.missing(caption_key(run.run, item.benchmark, item.sample))


async def stored_texts(store: ObjectStore, run: str, part: BenchmarkSpec) -> Mapping[str, str]:
    """The captions of a benchmark in the store: uploaded, or from the run's captioner.

    Raises InvalidInput when they are lost or broken, StoreUnavailable.
    """
    if part.captions is not None:
        return await read_captions(store, part.captions)
    return await read_own_captions(store, run, part.name)


async def stored_file(run: ObjectStore, end: Mapping[str, Any], name: str) -> bytes | None:
    """A file of a run's report as it was at its `end`, the content of end.json; None if it is lost.
    `run` is the run's own part of the store.

    Raises DataLoss if the file has changed since, StoreUnavailable.
    """
    data = await run.get(f"report/{name}")
    if data is not None:
        await asyncio.to_thread(check_file, data, end, f"report/{name}")
    return data


def check_file(data: bytes, end: Mapping[str, Any], file: str) -> None:
    """Raise DataLoss if a file of a report has changed since its run's `end`."""
    name = file.rpartition("/")[2]
    # Earlier releases stored the digest of report.json only.
    digest = end.get("files", {}).get(name) or (end.get("report") if name == REPORT else None)
    if digest and hashlib.sha256(data).hexdigest() != digest:
        # An earlier release may have written it since: it did not store the digests again.
        message = "not the file written when the run ended: `caliper report` rewrites it"
        _LOG.warning("run %s: %s: %s", end.get("run"), file, message)
        raise DataLoss(message, file=file)


async def headlines(store: ObjectStore, run: str) -> dict[str, Estimate]:
    """The headline figure of each benchmark in the stored report; empty without a report.

    Raises InvalidInput for a report that is malformed or was changed, StoreUnavailable.
    """
    file, own = f"report/{REPORT}", run_store(store, run)
    data = await stored_file(own, await read_replaceable(own, END), REPORT)
    if data is None:
        return {}
    try:
        report = json.loads(data)
        return {name: _headline(part) for name, part in report["benchmarks"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"not a report: {error!r}", file=file) from error


def _headline(part: Mapping[str, Any]) -> Estimate:
    value: Any = part
    bounds: Any = part["intervals"]
    for step in part["headline"]:
        value, bounds = value.get(step) if value else None, bounds.get(step, {})
    return Estimate(value, bounds.get("low"), bounds.get("high"), bounds.get("method", ""))
