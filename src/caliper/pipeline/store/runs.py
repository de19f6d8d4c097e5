"""What the store says about runs: their specs, and whether somebody cancelled them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from cachetools import LRUCache

from caliper.core.caps import Caps
from caliper.core.errors import InvalidInput, NotFound
from caliper.core.keys import canonical_json
from caliper.core.run import SCHEMA, RunSpec, refuse_newer
from caliper.pipeline.store.key_prefix import KeyPrefix
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

SPEC, CANCELLED, STARTED = "spec.json", "cancelled.json", "started.json"
REFUSED, END = "refused.json", "end.json"
_Found = TypeVar("_Found")
_RUN = re.compile(r"[0-9a-f]{16}", re.ASCII)


def is_run_id(text: str) -> bool:
    """Whether a run can be called so."""
    return _RUN.fullmatch(text) is not None


def run_store(store: ObjectStore, run: str) -> KeyPrefix:
    """The objects of one run. Raises NotFound for what is no run id."""
    if not is_run_id(run):
        raise NotFound(f"no run {run!r:.40}")
    return KeyPrefix(store, f"runs/{run}")


async def read_json(store: ObjectStore, key: str) -> dict[str, Any] | None:
    """The JSON object under a key, None when there is none.

    Raises NewerSchema, InvalidInput for anything else, StoreUnavailable.
    """
    written = await store.get(key)
    if written is None:
        return None
    try:
        found = json.loads(written)
    except ValueError as error:
        raise InvalidInput(f"no JSON: {error}", file=key) from error
    if not isinstance(found, dict):
        raise InvalidInput("no JSON object", file=key)
    refuse_newer(found.get("schema"), key)
    return found


async def write_json(store: ObjectStore, key: str, **fields: Any) -> None:
    """Keep fields as a JSON object with its schema. Raises StoreUnavailable or StoreFull."""
    await store.put(key, canonical_json({"schema": SCHEMA, **fields}))


async def refuse(run: ObjectStore, error: str) -> None:
    """Keep why a run cannot be planned: it has failed. `run` is its own part of the store."""
    await write_json(run, REFUSED, error=error)


async def refusal_of(run: ObjectStore) -> str:
    """Why a run could not be planned; empty when it could, or is to be tried again."""
    refused = await read_json(run, REFUSED)
    return str(refused["error"]) if refused else ""


async def forget_refusal(run: ObjectStore) -> None:
    """It is planned by now, or to be tried again: nothing is written where nothing was."""
    if await refusal_of(run):
        await refuse(run, "")


async def last_start(run: ObjectStore) -> tuple[int, Caps]:
    """How often a run was started, 0 for one that a release before started, and what it may
    spend since the last time. `run` is its own part of the store. Raises StoreUnavailable.
    """
    written = await read_json(run, STARTED) or {}
    caps = Caps(written.get("max_calls"), written.get("max_tokens"))
    return int(written.get("starts", 0)), caps


async def is_cancelled(run: ObjectStore) -> bool:
    """Whether a run was cancelled, and not started again since. Raises StoreUnavailable."""
    marked = await read_json(run, CANCELLED)
    return bool(marked and marked.get("cancelled"))


async def note_start(run: ObjectStore, caps: Caps, now: datetime) -> int:
    """Count one more start of a run, which may spend that; returns its number. The time of the
    first start stays. `run` is its own part of the store. Raises StoreUnavailable or StoreFull.
    """
    written = await read_json(run, STARTED) or {"started": now.isoformat(timespec="milliseconds")}
    number = int(written.get("starts", 0)) + 1
    spend = {"max_calls": caps.calls, "max_tokens": caps.tokens}
    given = {name: most for name, most in spend.items() if most is not None}
    await write_json(run, STARTED, started=written["started"], starts=number, **given)
    return number


class RunBook:
    """The runs in a store, the last `capacity` of them at hand.

    Whether a run was cancelled is asked of the store at most every `fresh` seconds, and once
    more before anybody acts on it: a run that was taken up again loses no job.
    """

    def __init__(
        self, store: ObjectStore, clock: Clock, capacity: int = 64, fresh: float = 2.0
    ) -> None:
        self._store, self._clock, self._fresh = store, clock, fresh
        self._specs: LRUCache[str, RunSpec] = LRUCache(capacity)
        self._looked: LRUCache[str, tuple[float, bool]] = LRUCache(capacity)
        self._asking: dict[str, asyncio.Future[Any]] = {}

    async def spec(self, run: str) -> RunSpec:
        """The spec of a run. Raises NotFound for one that is not stored, StoreUnavailable."""
        if run not in self._specs:
            return await self._together(f"{run}/spec", partial(self._read_spec, run))
        return self._specs[run]

    async def _read_spec(self, run: str) -> RunSpec:
        written = await read_json(run_store(self._store, run), SPEC)
        if written is None:
            raise NotFound(f"no run {run}")
        found = self._specs[run] = RunSpec.from_json(written, file=f"runs/{run}/{SPEC}")
        return found

    async def cancelled(self, run: str, *, anew: bool = False) -> bool:
        """Whether its jobs are to be acknowledged without work; with `anew` as of now.

        Raises StoreUnavailable.
        """
        if anew:
            return await self._look(run)
        when, told = self._looked.get(run, (-self._fresh, False))
        if told or self._clock.monotonic() - when >= self._fresh:
            return await self._together(f"{run}/cancelled", partial(self._look, run))
        return told

    async def _look(self, run: str) -> bool:
        now = self._clock.monotonic()
        told = await is_cancelled(run_store(self._store, run))
        self._looked[run] = (now, told)
        return told

    async def _together(self, what: str, ask: Callable[[], Coroutine[Any, Any, _Found]]) -> _Found:
        """The answer to a question that others may be asking now: the store is asked once."""
        asking: asyncio.Future[_Found] | None = self._asking.get(what)
        if asking is None:
            asking = self._asking[what] = asyncio.ensure_future(ask())
            asking.add_done_callback(lambda _: self._asking.pop(what, None))
        # Whoever leaves takes the answer from nobody.
        return await asyncio.shield(asking)
