"""Counts attempts at a run's report that ended with their process.

Crafted media can take all memory. The store keeps the count, since nothing else outlives the
process: the second attempt at a report gets no pictures, and there is no third.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.storage import ObjectStore

ATTEMPTS = "report-attempts.json"
_MOST = 2


class ReportAttempts:
    """The attempts of one process at reports."""

    def __init__(self) -> None:
        # By run, for counts in the store that are too high.
        self._lost: dict[str, int] = {}

    @asynccontextmanager
    async def begin(self, run: RunLedger) -> AsyncIterator[bool]:
        """Begin an attempt at the report of a run, and yield whether it may have pictures.

        The attempt is taken back at the end of the context: errors and stopped services do not
        count. It counts if the lease was lost meanwhile, which a report that blocks the process may
        cause. Raises StoreUnavailable, StoreFull or LeaseLost, and InvalidInput when two attempts
        were lost; the next start of the run resets the count.
        """
        lost = self._lost.pop(run.run, None)
        if lost is None:
            lost = await _lost_attempts(run.store)
        if lost >= _MOST:
            await write_json(run.store, ATTEMPTS, attempts=0)
            message = "the process died while writing the report, and again without pictures"
            raise InvalidInput(message, file=f"runs/{run.run}/{ATTEMPTS}")
        await write_json(run.store, ATTEMPTS, attempts=lost + 1)
        try:
            yield not lost
            lost = 0
        finally:
            try:
                await write_json(run.store, ATTEMPTS, attempts=lost)
            except StoreUnavailable:
                # The store counts one too many; this process knows better.
                self._lost[run.run] = lost


async def _lost_attempts(store: ObjectStore) -> int:
    """The attempts of earlier processes; 0 if their number is unreadable."""
    with suppress(InvalidInput):
        attempts = (await read_json(store, ATTEMPTS) or {}).get("attempts")
        return attempts if isinstance(attempts, int) else 0
    return 0
