"""A cache of the runs in a store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from cachetools import LRUCache

from caliper.core.errors import NotFound
from caliper.core.run import RunSpec
from caliper.pipeline.store.runs import is_run_id, is_stopped, last_start, read_spec, run_store
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_Value = TypeVar("_Value")


class RunBook:
    """A cache of the runs in a store, for the `capacity` most recently used ones.

    Whether runs are stopped is polled at most every `fresh` seconds. It is confirmed with the
    store before it is acted on, so a run that was resumed loses no job.
    """

    def __init__(
        self, store: ObjectStore, clock: Clock, capacity: int = 64, fresh: float = 2.0
    ) -> None:
        self._store, self._clock, self._fresh = store, clock, fresh
        self._specs: LRUCache[str, RunSpec] = LRUCache(capacity)
        self._stopped: LRUCache[str, tuple[float, bool]] = LRUCache(capacity)
        self._in_flight: dict[str, asyncio.Future[Any]] = {}

    async def spec(self, run: str) -> RunSpec:
        """The spec of a run. Raises NotFound if it is not stored, and what `read_spec` raises."""
        if run not in self._specs:
            return await self._single_flight(f"{run}/spec", partial(self._read_spec, run))
        return self._specs[run]

    async def _read_spec(self, run: str) -> RunSpec:
        spec = await read_spec(self._store, run)
        if spec is None:
            raise NotFound(f"no run {run}")
        self._specs[run] = spec
        return spec

    async def last_start(self, run: str) -> int:
        """The number of starts of the run; 0 if that is lost or unreadable, or there can be no such
        run. Raises StoreUnavailable.
        """
        return await last_start(run_store(self._store, run)) if is_run_id(run) else 0

    async def is_stopped(self, run: str) -> bool:
        """Whether jobs of the run are to be acknowledged without work. Raises StoreUnavailable."""
        when, stopped = self._stopped.get(run, (-self._fresh, False))
        if stopped or self._clock.monotonic() - when >= self._fresh:
            key, poll = f"{run}/stopped", partial(self._poll, run)
            is_shared = key in self._in_flight
            stopped = await self._single_flight(key, poll)
            if stopped and is_shared:
                # That call may have begun before the run was started again.
                stopped = await self._single_flight(key, poll)
        return stopped

    async def _poll(self, run: str) -> bool:
        now = self._clock.monotonic()
        stopped = await is_stopped(run_store(self._store, run))
        self._stopped[run] = (now, stopped)
        return stopped

    async def _single_flight(
        self, key: str, read: Callable[[], Coroutine[Any, Any, _Value]]
    ) -> _Value:
        """Single-flight: concurrent reads of the same `key` share one call to the store."""
        call: asyncio.Future[_Value] | None = self._in_flight.get(key)
        if call is None:
            call = self._in_flight[key] = asyncio.ensure_future(read())
            call.add_done_callback(lambda _: self._in_flight.pop(key, None))
        # Shielded, so that a cancelled caller does not take the result from the others.
        return await asyncio.shield(call)
