"""What the store says about runs: their specs, and whether somebody cancelled them."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from typing import Any

from caliper.core.errors import InvalidInput, NotFound
from caliper.core.keys import canonical_json
from caliper.core.run import SCHEMA, RunSpec, refuse_newer
from caliper.pipeline.narrowed import Narrowed
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

SPEC, CANCELLED = "spec.json", "cancelled.json"
_RUN = re.compile(r"[0-9a-f]{16}", re.ASCII)


def run_store(store: ObjectStore, run: str) -> Narrowed:
    """The objects of one run. Raises NotFound for what is no run id."""
    if not _RUN.fullmatch(run):
        raise NotFound(f"no run {run!r:.40}")
    return Narrowed(store, f"runs/{run}")


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


class RunBook:
    """The runs in a store, the last `capacity` of them at hand.

    Whether a run was cancelled is asked of the store at most every `fresh` seconds, and once
    more before anybody acts on it: a run that was taken up again loses no job.
    """

    def __init__(
        self, store: ObjectStore, clock: Clock, capacity: int = 64, fresh: float = 2.0
    ) -> None:
        self._store, self._clock = store, clock
        self._capacity, self._fresh = capacity, fresh
        self._specs: OrderedDict[str, RunSpec] = OrderedDict()
        self._looked: dict[str, tuple[float, bool]] = {}

    async def spec(self, run: str) -> RunSpec:
        """The spec of a run. Raises NotFound for one that is not stored, StoreUnavailable."""
        if run not in self._specs:
            store = run_store(self._store, run)
            written = await read_json(store, SPEC)
            if written is None:
                raise NotFound(f"no run {run}")
            self._specs[run] = RunSpec.from_json(written, file=f"runs/{run}/{SPEC}")
            if len(self._specs) > self._capacity:
                oldest, _ = self._specs.popitem(last=False)
                self._looked.pop(oldest, None)
        self._specs.move_to_end(run)
        return self._specs[run]

    async def cancelled(self, run: str, *, anew: bool = False) -> bool:
        """Whether its jobs are to be acknowledged without work; with `anew` as of now.

        Raises StoreUnavailable.
        """
        now = self._clock.monotonic()
        when, told = self._looked.get(run, (-self._fresh, False))
        if anew or told or now - when >= self._fresh:
            if run in self._looked:
                # Only one of many jobs looks; the others go by what was known.
                self._looked[run] = (now, told)
            marked = await read_json(run_store(self._store, run), CANCELLED)
            told = bool(marked and marked.get("cancelled"))
            self._looked[run] = (now, told)
        return told
