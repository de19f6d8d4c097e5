"""Leases: one of several processes holds the runs of a slot and writes about them.

A lease is one object of the store. Each holder has a number one higher than the last, and renews
by replacing the object while it is still the version that it wrote itself (compare and swap). A
process that waits takes over when the object has not changed for `term` seconds of its own
monotonic clock, or was released. Clocks of two machines are never compared, and no clock shows a
holder that it still holds the lease.

A paused process may wake and finish one write after it lost the lease. An object store cannot
compare fencing numbers, but it can compare versions, so each write carries the version that its
holder saw last:

- `LeasedStore` reads the version of an object, then renews the lease, then replaces that version.
  A late write fails if the new holder has written the object since. Otherwise it counts as
  written before the takeover: the new holder reads the same topics, and replaces it.
- A segment of verdicts is created, never replaced. So the positions in every snapshot stay valid,
  whoever wrote it. A taken number ends the lease: the holder resumes from its snapshot, after all
  segments.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from caliper.core.errors import InvalidInput, LeaseLost, StoreUnavailable
from caliper.core.keys import canonical_json
from caliper.core.run import SCHEMA
from caliper.pipeline.store.runs import read_json
from caliper.pipeline.store.store_view import StoreView
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

TERM = 6.0
"""Seconds without a renewal after which another process takes over."""
_RENEWALS = 3
"""Renewals per term."""


class Lease:
    """A lease on the object `key`. `number` is this holder's, 0 before the first. Other processes
    read `weight` as `their_weight`. The lease is not acquired before it `is_wanted`. The name of
    the `holder` is random if none is given. `note` returns fields for people to read.

    `pace` is the number of seconds between renewals, and between the checks of a waiting process.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Clock,
        key: str,
        is_wanted: Callable[[], bool] = lambda: True,
        holder: str = "",
    ) -> None:
        self._store, self._clock, self._key = store, clock, key
        self.is_wanted = is_wanted
        self._holder = holder or secrets.token_hex(8)
        self._version: str | None = None
        self._held, self._lock = False, asyncio.Lock()
        # The version and fields read last, and when they had changed.
        self._observed: tuple[str | None, dict[str, Any]] = (None, {})
        self._since = float("-inf")
        self._renewals = 0
        # The fields of a write whose answer was lost: its repetition must be the same.
        self._unsure: dict[str, Any] = {}
        self.number, self.pace, self.weight = 0, TERM / _RENEWALS, 0
        self.note: Callable[[], dict[str, Any]] = dict

    @property
    def is_held(self) -> bool:
        """Whether this process believes that it holds the lease."""
        return self._held

    @property
    def their_weight(self) -> int:
        """The weight that the last seen holder noted."""
        return int(self._observed[1].get("weight", 0))

    async def acquire(self) -> None:
        """Wait until this process holds the lease. Raises StoreUnavailable; call it again then."""
        self._held = False
        while not (await self.is_free() and self.is_wanted() and await self.take()):
            await self._clock.sleep(self.pace)

    async def is_free(self) -> bool:
        """Read the lease, and return whether it is free, or unchanged for a term. Raises
        StoreUnavailable.
        """
        try:
            version, now = await self._store.version(self._key), self._clock.monotonic()
        except StoreUnavailable:
            # Its holder could not renew it either.
            self._since = float("-inf")
            raise
        if version != self._observed[0] or self._since == float("-inf"):
            self._observed, self._since = (version, await self._read()), now
        # A holder that acquires again released its lease, or never learned that it has one.
        is_released = self._observed[1].get("holder") in (None, "", self._holder)
        return is_released or now - self._since >= TERM

    async def take(self) -> bool:
        """Take the lease as last seen. Returns False if another process was first. Raises
        StoreUnavailable, StoreFull.
        """
        version, fields = self._observed
        self.number, self._renewals = fields["number"] + 1, 0
        return await self._write(version, self._holder)

    async def _read(self) -> dict[str, Any]:
        try:
            fields = await read_json(self._store, self._key) or {}
            numbers = {name: int(fields.get(name, 0)) for name in ("number", "weight")}
        except (InvalidInput, TypeError, ValueError):
            # Damaged. Holders also differ by name, so the count may begin again.
            return {"holder": "unknown", "number": 0}
        return fields | numbers

    async def _write(self, version: str | None, holder: str) -> bool:
        """Replace the version. A repeated call writes the same bytes, and so succeeds."""
        fields = {"holder": holder, "number": self.number, "renewals": self._renewals}
        if self._unsure.get("holder") != holder:
            note = self.note() if holder else {}
            self._unsure = {**note, "weight": self.weight, "holder": holder}
        data = canonical_json({"schema": SCHEMA, **self._unsure, **fields})
        self._version = await self._store.replace(self._key, data, version)
        self._unsure = {}
        self._held = self._version is not None and bool(holder)
        return self._held

    async def renew(self) -> None:
        """Renew the lease. Raises LeaseLost, StoreUnavailable or StoreFull."""
        # Finished even if the caller is cancelled: otherwise the version would be unknown.
        await asyncio.shield(self._renew())

    async def _renew(self) -> None:
        async with self._lock:
            if self._held:
                self._renewals += 1
                try:
                    await self._write(self._version, self._holder)
                except StoreUnavailable:
                    self._renewals -= 1
                    raise
            if not self._held:
                raise LeaseLost(f"{self._key}: another process holds the lease")

    async def release(self) -> None:
        """Release the lease, if it is held, so that others need not wait. Never raises."""
        async with self._lock:
            if self._held:
                with suppress(StoreUnavailable):
                    await self._write(self._version, "")
            self._held = False


class LeasedStore(StoreView):
    """A view of a store that writes only while the lease is held, and only over versions that the
    holder has seen. Writes raise LeaseLost when another process has taken over.
    """

    def __init__(self, store: ObjectStore, lease: Lease) -> None:
        self._store, self._lease = store, lease

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        return self._store, key

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes or the content of a file. Raises LeaseLost, StoreUnavailable, StoreFull."""
        # Each try renews the lease: an intervening write is a late one, or our own.
        while await self.replace(key, data, await self.version(key)) is None:
            pass

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        """Store `data` if `key` has this version. Raises LeaseLost, and what the port raises."""
        await self._lease.renew()
        return await self._store.replace(key, data, version)
