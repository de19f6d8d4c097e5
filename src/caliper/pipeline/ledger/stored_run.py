"""A run in a store that can be opened for reading."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from caliper.core.errors import NotReady
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.run_ledger import RunLedger, Runs
from caliper.pipeline.store.plan import Captions
from caliper.ports.storage import ObjectStore

CaptionsOf = Callable[[RunLedger], Awaitable[Captions]]
"""Finds the captions of a run's planned samples."""


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
