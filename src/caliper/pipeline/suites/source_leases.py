"""Markers beside checkpoints under evaluation, for those who clean up there.

suites/<name>/markers/<version>/<revision>.json   the source that may have a marker

The record is written before the marker, and deleted after it. So however a loop ends, another one
finds which markers may be left, and removes those of entries that nobody holds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import CaliperError
from caliper.core.keys import canonical_json
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.store.runs import read_replaceable, write_json
from caliper.ports.clock import Clock
from caliper.ports.sources import CheckpointSources
from caliper.ports.storage import DeletableStore

_PACE = 5.0
"""Seconds between two looks at a source."""
_LOOKS = 12
"""Looks between two writes of a marker."""


class SourceLeases:
    """Keeps the markers of the suites in a store, and watches the sources. `warn` takes each
    problem with a marker once; the evaluation goes on without it.
    """

    def __init__(
        self,
        store: DeletableStore,
        clock: Clock,
        sources: CheckpointSources,
        warn: Callable[[str], None],
    ) -> None:
        self._store, self._clock, self._sources = store, clock, sources
        self._warn, self._warned = warn, ""
        # The leases of marked entries by suite and marker, until nobody holds them.
        self._others: dict[str, dict[str, Lease]] = {}

    @asynccontextmanager
    async def marked(self, entry: CheckpointEntry) -> AsyncIterator[None]:
        """Keep the marker of an entry's source beside it. Raises StoreUnavailable."""
        source, key = entry.checkpoint.source, entry.key("markers")
        await write_json(self._store, key, source=source)
        await self._mark(entry)
        try:
            yield
        finally:
            await self._remove(entry.suite, source, key)

    async def loss(self, entry: CheckpointEntry) -> str:
        """Watch the source until it is gone or another one, and return why."""
        before = await self._signature(entry)
        looks = 0
        while True:
            await self._clock.sleep(_PACE)
            looks += 1
            if looks % _LOOKS == 0:
                await self._mark(entry)
            now = await self._signature(entry)
            if now is None or now == before:
                continue
            if before is not None:
                with suppress(CaliperError):
                    if reason := await self._sources.loss(entry.checkpoint):
                        return reason
            before = now

    async def tidy(self, suite: str) -> None:
        """Remove the markers that crashed loops left. Raises StoreUnavailable."""
        keys = [key async for key in self._store.list(f"suites/{suite}/markers/")]
        before = self._others.get(suite, {})
        self._others[suite] = leases = {key: before.get(key) or self._lease(key) for key in keys}
        for key, lease in leases.items():
            if await lease.is_free():
                fields = await read_replaceable(self._store, key)
                await self._remove(suite, str(fields.get("source") or ""), key)

    def _lease(self, key: str) -> Lease:
        return Lease(self._store, self._clock, key.replace("/markers/", "/leases/", 1))

    async def _signature(self, entry: CheckpointEntry) -> str | None:
        try:
            return await self._sources.signature(entry.checkpoint)
        except CaliperError as error:
            self._warn_once(error)
            return None

    async def _mark(self, entry: CheckpointEntry) -> None:
        fields = {"suite": entry.suite, "revision": entry.checkpoint.revision}
        time = self._clock.now().isoformat(timespec="seconds")
        text = canonical_json({**fields, "since": entry.claimed, "seen": time}).decode()
        try:
            await self._sources.mark(entry.checkpoint.source, entry.suite, text)
        except CaliperError as error:
            self._warn_once(error)

    async def _remove(self, suite: str, source: str, key: str) -> None:
        """Remove a marker and its record, which stays if the marker cannot be removed now."""
        try:
            if source:
                await self._sources.unmark(source, suite)
            await self._store.delete(key)
        except CaliperError as error:
            self._warn_once(error)

    def _warn_once(self, error: CaliperError) -> None:
        if str(error) != self._warned:
            self._warned = str(error)
            self._warn(self._warned)
