"""Counts attempts at a run's report that ended with their process.

Media can be made such that they take all memory. The store counts, since nothing else outlives
the process: the second attempt at a report gets no pictures, and there is no third.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from cachetools import LRUCache

from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.storage import ObjectStore

ATTEMPTS = "report-attempts.json"
_MOST = 2
_RUNS = 4096


class ReportAttempts:
    """The attempts of one process at reports."""

    def __init__(self) -> None:
        self._lost: LRUCache[str, int] = LRUCache(_RUNS)

    @asynccontextmanager
    async def begin(self, run: str, store: ObjectStore) -> AsyncIterator[bool]:
        """Begin an attempt at the report of a run, and yield whether it may have pictures.

        `store` is the run's own part of the store. The attempt is taken back at the end of the
        context: an error, and a service that is stopped, are no attempts. Raises StoreUnavailable,
        and InvalidInput when two attempts were lost; the next start of the run begins anew.
        """
        if run not in self._lost:
            self._lost[run] = await _lost_attempts(store)
        lost = self._lost[run]
        if lost >= _MOST:
            self._lost[run] = 0
            await write_json(store, ATTEMPTS, attempts=0)
            message = "the process died while writing the report, and again without pictures"
            raise InvalidInput(message, file=f"runs/{run}/{ATTEMPTS}")
        await write_json(store, ATTEMPTS, attempts=lost + 1)
        try:
            yield lost == 0
            self._lost[run] = 0
        finally:
            # Where this fails, this process still knows the number.
            with suppress(StoreUnavailable):
                await write_json(store, ATTEMPTS, attempts=self._lost[run])


async def _lost_attempts(store: ObjectStore) -> int:
    """The attempts of earlier processes; 0 if their number cannot be read."""
    with suppress(InvalidInput):
        attempts = (await read_json(store, ATTEMPTS) or {}).get("attempts")
        return attempts if isinstance(attempts, int) else 0
    return 0
