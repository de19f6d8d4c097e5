"""Opens the ledgers of runs from the store."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import DataLoss, InvalidInput, NotReady
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.ledger import Columns, Ledger
from caliper.pipeline.ledger.run_ledger import CaptionsOf, RunLedger
from caliper.pipeline.ledger.verdict_log import SegmentCache, StoreLog, stored_at
from caliper.pipeline.store.owners import first_team, run_owners
from caliper.pipeline.store.plan import SUMMARY, read_summary
from caliper.pipeline.store.runs import (
    END,
    SPEC,
    read_replaceable,
    read_spec,
    run_store,
    write_json,
)
from caliper.ports.storage import ObjectStore


class Runs:
    """Opens the ledgers of runs from the store, each under `runs/<id>/`."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._cache = SegmentCache(store)

    async def planning(self, run: str) -> bool:
        """Whether the run is stored but not planned yet. Raises StoreUnavailable."""
        store = run_store(self._store, run)
        return await store.get(SPEC) is not None and await read_summary(store) is None

    async def restore(self, run: str, columns: Columns, now: float) -> RunLedger:
        """Open a run with the ledger columns of a snapshot.

        Raises DataLoss if an object of the run is lost, InvalidInput if the run is no longer
        stored, or has another plan.
        """
        ledger = await self._open(run, columns, now)
        if ledger is None and await self.planning(run):
            raise DataLoss.missing(SUMMARY)
        if ledger is None or len(columns.states) != ledger.summary.questions:
            raise InvalidInput(f"the ledger of {run} is not that of its plan")
        if ledger.ledger.known and not ledger.log.has_stored(max(columns.places)):
            raise DataLoss.missing(ledger.log.next_key)
        return ledger

    async def open(self, run: str, now: float, start: int = 0) -> RunLedger | None:
        """Open a run with all verdicts of its segments; None if it is not stored and planned.

        The jobs of a new `start` bring all verdicts again: unreadable segments are emptied then.
        Raises DataLoss for unreadable objects, StoreUnavailable, and then StoreFull.
        """
        # Read before the segments are listed: verdicts are stored before the end.
        end = await read_replaceable(run_store(self._store, run), END)
        ledger = await self._open(run, None, now, stored_at(end))
        if ledger is not None:
            _recall_end(ledger, end)
            digests = dict(ledger.log.digests)
            await ledger.load(ledger.log.batches(heal=ledger.is_new(start)))
            if ledger.log.digests != digests:
                # Other readers would miss the emptied segments.
                name = "segment_digests"
                await write_json(ledger.store, END, **{**end, name: ledger.facts()[name]})
            _recall_report(ledger, end)
        return ledger

    async def take_up(self, run: str, now: float, start: int = 0) -> RunLedger | None:
        """Open a run to continue it. Returns and raises as `open`, and raises DataLoss if it ended
        with a plan or verdicts that are now missing, unless they come again.
        """
        ledger = await self.open(run, now, start)
        if ledger is None and await run_store(self._store, run).get(END) is not None:
            raise DataLoss.missing(SUMMARY)
        if ledger is not None and ledger.lacks_verdicts and not ledger.is_new(start):
            raise DataLoss.missing(ledger.log.next_key)
        return ledger

    async def refresh(self, run: RunLedger) -> None:
        """Enter verdicts stored since the run was opened. Only for read-only ledgers.

        Raises what `open` raises.
        """
        await run.load(run.log.read_new())
        end = await read_replaceable(run.store, END)
        _recall_end(run, end)
        _recall_report(run, end)

    async def _open(
        self, run: str, columns: Columns | None, now: float, segments: int = 0
    ) -> RunLedger | None:
        store = run_store(self._store, run)
        spec, summary = await read_spec(self._store, run), await read_summary(store)
        if summary is None:
            return None
        if summary.run != run:
            raise DataLoss(f"the plan of run {summary.run}, not of {run}", file=SUMMARY)
        if spec is None:
            raise DataLoss.missing(SPEC)
        log = await StoreLog.open(self._store, f"runs/{run}/verdicts", self._cache, segments)
        ledger = Ledger(summary.questions, log, columns)
        team = await first_team(self._store, run_owners(run))
        return RunLedger(spec, summary, store, log, ledger, now, team=team)


def _recall_end(run: RunLedger, end: Mapping[str, Any]) -> None:
    """Restore the facts in end.json. A lost or broken one will be written again."""
    with suppress(InvalidInput):
        run.restore(end, END)


def _recall_report(run: RunLedger, end: Mapping[str, Any]) -> None:
    """Note whether the report of end.json covers the ledger."""
    if end.get("outcomes") == run.ledger.digest():
        run.reported_changes = run.ledger.changes


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run that can be opened: its spec, its store, and a lookup of its captions."""

    spec: RunSpec
    store: ObjectStore
    captions: CaptionsOf

    async def open(self) -> RunLedger:
        """Open the run. Raises NotReady if it has no complete plan, and what `Runs.open` raises."""
        ledger = await Runs(self.store).open(self.spec.run_id, 0.0)
        if ledger is None:
            message = f"run {self.spec.run_id} ({self.spec.name}) has no complete plan"
            raise NotReady(message)
        return ledger
