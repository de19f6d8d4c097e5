"""The report files of a run that ended, written by the sinks and kept in the store."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from caliper.core.report import Report
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.asking.reuse import with_reuse
from caliper.pipeline.ledger.report import verdict_rows, with_captions
from caliper.pipeline.ledger.run_ledger import CaptionsOf, RunLedger
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.judge_check import read_sittings, with_checks
from caliper.pipeline.reports.outputs import Shards, kept, write_outputs
from caliper.pipeline.store.disk_spill import SpilledTexts
from caliper.pipeline.store.plan import Captions, PlanReader
from caliper.pipeline.store.supplies import read_captions, read_written
from caliper.ports.storage import ObjectStore, ReportSink

REPORT = "report.json"
_FEW_QUESTIONS = 15_000
"""A run of so many questions has room in memory for all its verdicts: about 25 MiB."""

SinksOf = Callable[[RunSpec, Captions], Sequence[ReportSink]]
"""The sinks of a run's files. The first pass needs nothing but figures: report.json's."""


class ReportFiles:
    """Writes `report/<file>` of a run, report.json last: where it is, the others are. With `folder`
    they are written there instead. `complete` adds what a report tells beside plan and outcomes.
    """

    def __init__(
        self,
        captions: CaptionsOf,
        sinks: SinksOf,
        folder: Path | None = None,
        complete: Callable[[Report], Report] = lambda report: report,
    ) -> None:
        self._captions = captions
        self._sinks = sinks
        self._folder, self._complete = folder, complete

    async def write(
        self,
        run: RunLedger,
        ending: RunState,
        live: LiveTallies,
        spending: AbstractContextManager[None],
    ) -> tuple[RunState, str] | None:
        """Write the files, with the figures of `live`, and return the state they tell and the
        SHA-256 of report.json. `spending` is entered for what that costs, which waiting for others
        does not.

        None, with nothing of it in the store, when the ledger changed meanwhile. Raises
        InvalidInput when plan or evidence are lost, StoreUnavailable or StoreFull.
        """
        # Captions first: an outcome that is told was not judged by a later one.
        changes = run.ledger.changes
        captions = await self._captions(run)
        with ExitStack() as stack:
            async with live.turn:
                stack.enter_context(spending)
                _, figures = await live.figures(run)
            found = await with_captions(figures, run.spec, run.plan, captions)
            found = await with_reuse(found, run.spec, captions, run.store)
            run.reuse = found.reuse
            found = with_checks(found, await read_sittings(run.store, run.spec))
            if ending is not RunState.FINISHED:
                found = replace(found, state=str(ending))
            found = self._complete(found)
            folder = self._folder or Path(
                stack.enter_context(TemporaryDirectory(prefix="caliper-report-"))
            )
            files = await self._write_local(run, found, captions, folder)
            if run.ledger.changes != changes:
                return None
            if self._folder is None:
                await _keep(run.store, files)
            return RunState(found.state), await _digest(files)

    async def _write_local(
        self, run: RunLedger, found: Report, captions: Captions, folder: Path
    ) -> list[Path]:
        def rows() -> Shards:
            return verdict_rows(run.spec, run.plan, run.ledger)

        few = run.summary.questions <= _FEW_QUESTIONS
        sinks = self._sinks(run.spec, captions)
        return await write_outputs(sinks, found, kept(rows) if few else rows, folder)


async def _keep(store: ObjectStore, files: Sequence[Path]) -> None:
    """Keep the files, report.json last."""
    for file in sorted(files, key=lambda file: file.name == REPORT):
        await store.put(f"report/{file.name}", file)


async def _digest(files: Sequence[Path]) -> str:
    """The SHA-256 of report.json, none without it."""
    for file in files:
        if file.name == REPORT:
            return hashlib.sha256(await asyncio.to_thread(file.read_bytes)).hexdigest()
    return ""


async def captions_of_run(store: ObjectStore, run: RunLedger) -> Captions:
    """The captions of a run, uploaded or written by its captioner, of its planned samples, in
    plan order.

    Raises InvalidInput when they are lost or broken, StoreUnavailable.
    """
    known = {
        part.name: await _captions(store, run.run, part.name, part.captions)
        for part in run.spec.benchmarks
    }
    return await planned_captions(known, run.plan)


async def planned_captions(known: Captions, plan: PlanReader) -> Captions:
    """Of the captions that are known those of planned samples, in plan order, not in memory."""
    planned = {name: SpilledTexts() for name in known}
    async for items in plan():
        for name, texts in planned.items():
            samples = dict.fromkeys(item.sample for item in items if item.benchmark == name)
            found = ((sample, known[name].get(sample)) for sample in samples)
            texts.add((sample, text) for sample, text in found if text is not None)
    return {name: texts for name, texts in planned.items() if texts}


async def _captions(
    store: ObjectStore, run: str, name: str, uploaded: str | None
) -> Mapping[str, str]:
    if uploaded is not None:
        return await read_captions(store, uploaded)
    return await read_written(store, run, name)
