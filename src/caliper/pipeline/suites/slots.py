"""Slots, in which checkpoints are served, one at a time.

slots/<name>/lease.json             the lease of the process serving a checkpoint there
slots/<name>/record.json            what is served, and the trace by which others can remove it
slots/<name>/queue/<number>.json    a waiting holder's ticket, a lease; the lowest is next

The trace is written before anything exists, and emptied after all is removed. So however a holder
ends, the next one finds in the record what may be left, and removes it first.

A server that others run has its own slot, since suites may name it in several slots. It is taken
after the suite's slot, whose record names it, and holds the trace.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendError, BackendRejected, LeaseLost, StoreUnavailable
from caliper.pipeline.aggregation.lease import Lease, LeasedStore
from caliper.pipeline.store.changes import unique_json
from caliper.pipeline.store.runs import read_json, read_replaceable
from caliper.pipeline.suites.tenure import stop, while_held
from caliper.ports.clock import Clock
from caliper.ports.serving import CheckpointEndpoint, CheckpointServer, Clear, Trace
from caliper.ports.storage import DeletableStore, ObjectStore

_ROOT = "slots/"
_Value = TypeVar("_Value")
Work = Callable[[CheckpointEndpoint], Coroutine[Any, Any, _Value]]


class ServingSlot:
    """A slot in a store, and that of the `server` used in it, if others run it. `warn` takes
    failures to remove something, which the next holder retries.
    """

    def __init__(
        self,
        store: DeletableStore,
        clock: Clock,
        name: str,
        clear: Clear,
        warn: Callable[[str], None],
        server: str = "",
    ) -> None:
        self._store, self._clock, self._name = store, clock, name
        self._remove, self._warn, self._server = clear, warn, server
        self._prefix = f"{_ROOT}{name}/"

    async def use(
        self,
        server: CheckpointServer,
        checkpoint: CheckpointRevision,
        label: str,
        seconds: float,
        work: Work[_Value],
    ) -> _Value:
        """Wait for the slot, serve the checkpoint, do the work, and remove everything. `label`
        names the holder in the queue, `seconds` limits the work.

        Raises BackendRejected for a checkpoint that does not get ready, hangs its server or takes
        too long, BackendError when an earlier holder's remains cannot be removed, LeaseLost,
        StoreUnavailable, and what the work raises.
        """
        if self._server:
            use = self._of(self._server).use
            return await self._hold(label, partial(use, server, checkpoint, label, seconds, work))
        holder, traces = f"{label} {secrets.token_hex(4)}", list[Trace]()
        lease = await self._acquire(holder)

        async def note(trace: Trace) -> None:
            traces[:] = [trace]
            await self._record(lease, label, trace)

        async def serve() -> _Value:
            await self._clear(lease)
            endpoint = await server.start(checkpoint, note)
            return await self._watched(server, work(endpoint), seconds)

        try:
            return await while_held(lease, self._clock, serve())
        finally:
            try:
                await while_held(lease, self._clock, self._put_away(lease))
            except LeaseLost:
                # Things made after another took over are in no record.
                lease = await self._acquire(holder)
                for trace in traces:
                    await while_held(lease, self._clock, self._remove(trace))
            finally:
                await lease.release()
                await server.close()

    def _of(self, server: str) -> ServingSlot:
        return ServingSlot(self._store, self._clock, server, self._remove, self._warn)

    async def _hold(self, label: str, use: Callable[[], Coroutine[Any, Any, _Value]]) -> _Value:
        """Use the slot of the server while nobody else has this one."""
        lease = await self._acquire(f"{label} {secrets.token_hex(4)}")

        async def exclusive() -> _Value:
            await self._clear(lease)
            # The next holder of this slot may use another server.
            await self._record(lease, label, {}, self._server)
            try:
                return await use()
            finally:
                if not await self._of(self._server).has_left(label):
                    await self._record(lease, "", {})

        try:
            return await while_held(lease, self._clock, exclusive())
        finally:
            await lease.release()

    async def has_left(self, label: str) -> bool:
        """Whether something of a checkpoint may be left. Others remove it before they begin."""
        fields = await self._fields()
        return bool(fields.get("trace")) and fields.get("label") == label

    async def clear_after(self, label: str) -> None:
        """Remove what is left of a checkpoint in this slot."""
        if await self.has_left(label):
            lease = await self._acquire(f"{label} {secrets.token_hex(4)}")
            try:
                await while_held(lease, self._clock, self._clear(lease))
            finally:
                await lease.release()

    @staticmethod
    async def _watched(
        server: CheckpointServer, work: Coroutine[Any, Any, _Value], seconds: float
    ) -> _Value:
        """The result of the work, unless the server ends or hangs, or time runs out, before."""
        task, watch = asyncio.create_task(work), asyncio.create_task(server.watch())
        try:
            first = asyncio.FIRST_COMPLETED
            done, _ = await asyncio.wait((task, watch), timeout=seconds, return_when=first)
            if not done:
                message = f"not evaluated within {seconds:,g} seconds"
                raise BackendRejected(message + await server.last_words())
            if not task.done():
                await watch
            return await task
        finally:
            await stop(task, watch)

    async def _put_away(self, lease: Lease) -> None:
        await lease.renew()
        try:
            await self._clear(lease)
        except BackendError as error:
            self._warn(f"slot {self._name}: {error}; its next user tries again")

    async def _clear(self, lease: Lease) -> None:
        """Remove what the record names. Raises DataLoss for an unreadable record."""
        fields = await self._fields()
        if fields.get("server"):
            await self._of(fields["server"]).clear_after(str(fields.get("label")))
        if fields.get("trace"):
            await self._remove(fields["trace"])
        if fields.get("server") or fields.get("trace"):
            await self._record(lease, "", {})

    async def _fields(self) -> Mapping[str, Any]:
        return await read_json(self._store, f"{self._prefix}record.json") or {}

    async def _record(self, lease: Lease, label: str, trace: Trace, server: str = "") -> None:
        fields: dict[str, Any] = {
            "label": label,
            "trace": trace,
            **({"server": server} if server else {}),
        }
        store = LeasedStore(self._store, lease)
        await store.put(f"{self._prefix}record.json", unique_json(fields))

    async def _acquire(self, holder: str) -> Lease:
        """Wait for the turn of this holder, and take the lease of the slot."""
        lease = Lease(self._store, self._clock, f"{self._prefix}lease.json", holder=holder)
        queue = _Queue(self._store, self._clock, f"{self._prefix}queue/", holder)
        try:
            while True:
                is_first = await queue.is_first()
                if await lease.is_free() and is_first and await lease.take():
                    return lease
                await self._clock.sleep(lease.pace)
        finally:
            with suppress(StoreUnavailable):
                await queue.leave()


class _Queue:
    """A place in the queue. Tickets that nobody renews are removed by the others."""

    def __init__(self, store: DeletableStore, clock: Clock, prefix: str, holder: str) -> None:
        self._store, self._clock, self._prefix, self._holder = store, clock, prefix, holder
        self._key, self._ticket = "", self._lease("")
        self._others: dict[str, Lease] = {}

    def _lease(self, key: str, holder: str = "") -> Lease:
        return Lease(self._store, self._clock, key, holder=holder)

    async def is_first(self) -> bool:
        """Renew the ticket, and return whether none precedes it."""
        try:
            await self._ticket.renew()
        except LeaseLost:
            # None so far, or others took its process for dead.
            await self._draw()
        ahead = [key async for key in self._store.list(self._prefix) if key < self._key]
        self._others = {key: self._others.get(key) or self._lease(key) for key in ahead}
        for key, other in self._others.items():
            if await other.is_free():
                await self._store.delete(key)
        return not ahead

    async def _draw(self) -> None:
        """Take the number after the last."""
        while not self._ticket.is_held:
            last = [key async for key in self._store.list(self._prefix)][-1:]
            number = 1 + max((int(key[-13:-5]) for key in last), default=0)
            self._key = f"{self._prefix}{number:08}.json"
            self._ticket = self._lease(self._key, self._holder)
            if await self._ticket.is_free():
                await self._ticket.take()

    async def leave(self) -> None:
        """Remove the ticket."""
        if self._ticket.is_held:
            await self._store.delete(self._key)


@dataclass(frozen=True, slots=True)
class SlotState:
    """The state of a slot: the label `served`, empty if none, and those waiting, in order."""

    name: str
    served: str
    queue: tuple[str, ...]


async def slot_states(store: ObjectStore) -> list[SlotState]:
    """All slots of a store. Raises StoreUnavailable."""
    keys = [key async for key in store.list(_ROOT)]
    states = []
    for name in dict.fromkeys(key.split("/")[1] for key in keys):
        prefix = f"{_ROOT}{name}/"
        queue = [key for key in keys if key.startswith(f"{prefix}queue/")]
        fields = [await read_replaceable(store, key) for key in (f"{prefix}lease.json", *queue)]
        served, *waiting = (str(each.get("holder") or "").rpartition(" ")[0] for each in fields)
        states.append(SlotState(name, served, tuple(filter(None, waiting))))
    return states
