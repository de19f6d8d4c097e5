"""Opens the ledgers of runs from the store."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.core.errors import InvalidInput, NotReady
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.ledger import Columns, Ledger
from caliper.pipeline.ledger.run_ledger import CaptionsOf, RunLedger
from caliper.pipeline.ledger.verdict_log import SegmentCache, StoreLog
from caliper.pipeline.store.plan import read_summary
from caliper.pipeline.store.runs import END, SPEC, read_json, run_store
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

        Raises InvalidInput if the run is no longer stored, or has another plan.
        """
        ledger = await self._open(run, columns, now)
        if ledger is None or len(columns.states) != ledger.summary.questions:
            raise InvalidInput(f"the ledger of {run} is not that of its plan")
        return ledger

    async def open(self, run: str, now: float) -> RunLedger | None:
        """Open a run with all verdicts of its segments; None if it is not stored and planned.

        Raises InvalidInput for unreadable objects, StoreUnavailable.
        """
        ledger = await self._open(run, None, now)
        if ledger is None:
            return None
        await ledger.load()
        await _recall_end(ledger)
        return ledger

    async def refresh(self, run: RunLedger) -> None:
        """Enter what was stored since the run was opened. Only for read-only ledgers.

        Raises what `open` raises.
        """
        await run.load_new()
        await _recall_end(run)

    async def _open(self, run: str, columns: Columns | None, now: float) -> RunLedger | None:
        store = run_store(self._store, run)
        fields = await read_json(store, SPEC)
        summary = None if fields is None else await read_summary(store)
        if fields is None or summary is None:
            return None
        spec = RunSpec.from_json(fields, file=SPEC)
        log = await StoreLog.open(self._store, f"runs/{run}/verdicts", self._cache)
        return RunLedger(spec, summary, store, log, Ledger(summary.questions, log, columns), now)


async def _recall_end(run: RunLedger) -> None:
    """Restore the facts in end.json, if it exists."""
    end = await read_json(run.store, END)
    if end is not None:
        run.restore(end, END)
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
