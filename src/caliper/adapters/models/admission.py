"""Admission of calls to the endpoints of one model: first come, first served.

The rules are in `congestion`. This module only queues callers per endpoint and wakes them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass

from caliper.adapters.models.congestion import CongestionWindow
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
)
from caliper.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class Turn:
    """Permission for one call: to which endpoint, and whether it probes a shut one."""

    place: int
    probe: bool


class EndpointsLost(Exception):
    """Every endpoint has been failing for longer than the configured patience."""


@dataclass(frozen=True, slots=True, eq=False)
class _Caller:
    """A caller that waits for a turn. `tries` counts its failed tries so far."""

    turn: asyncio.Future[Turn]
    tries: int


_Waiting = deque[_Caller]


class Admission:
    """Queues callers in front of endpoints with these gates. Belongs to one event loop.

    A caller waits for one endpoint, and moves to a healthy one if that endpoint is in trouble.
    Each queue is first in, first out; a cancelled caller delays nobody. Only the probe of a shut
    endpoint goes to the caller with the fewest failures: the fault may lie in the request of
    the others, not in the endpoint.
    """

    def __init__(self, gates: Sequence[CongestionWindow], clock: Clock) -> None:
        self._gates, self._clock = tuple(gates), clock
        self._queues: tuple[_Waiting, ...] = tuple(deque() for _ in gates)
        self._wake_task: asyncio.Task[None] | None = None
        self._wake_time = 0.0

    def healthy(self, excluded: AbstractSet[int]) -> bool:
        """Whether an endpoint outside `excluded` takes calls."""
        return any(place not in excluded for place in self._healthy(self._clock.monotonic()))

    def choose_endpoint(self, home: int | None, besides: AbstractSet[int] = frozenset()) -> int:
        """The endpoint for a new caller.

        An endpoint that is due for a probe comes first, then the caller's `home`, then the one
        with the lowest load. Endpoints in `besides` come last.
        """
        now = self._clock.monotonic()
        healthy = self._healthy(now)
        due = [
            place
            for place, gate in enumerate(self._gates)
            if place not in healthy and place not in besides and gate.admits(now)
        ]
        if due:
            return due[0]
        fresh = [place for place in healthy if place not in besides]
        if home is not None and home in (fresh or healthy):
            return home
        if healthy:
            return min(fresh or healthy, key=self._load)
        return min(range(len(self._gates)), key=lambda place: self._gates[place].opens_at)

    async def enter(self, place: int, tries: int = 0) -> Turn:
        """Wait for a turn at that endpoint, or at a healthier one. `tries` counts failed tries.

        Raises EndpointsLost. The caller must end the turn with `leave`.
        """
        gate, queue = self._gates[place], self._queues[place]
        if not queue and gate.admits(self._clock.monotonic()):
            return Turn(place, gate.enter())
        if tries and self._lost(self._clock.monotonic()):
            # A caller that has not tried yet may still probe whether an endpoint is back.
            raise EndpointsLost
        future: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        caller = _Caller(future, tries)
        queue.append(caller)
        self._admit()
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled():
                with suppress(ValueError):
                    queue.remove(caller)
            elif future.exception() is None:
                # The turn was granted, but will not be used.
                self.leave(future.result(), asyncio.CancelledError())
            raise

    def leave(self, turn: Turn, error: BaseException | None) -> None:
        """End a turn. `error` is None if the call succeeded."""
        gate, now, probe = self._gates[turn.place], self._clock.monotonic(), turn.probe
        match error:
            case None:
                gate.record_success(now, probe=probe)
            case BackendOverloaded(retry_after=retry_after):
                gate.record_overload(now, retry_after, probe=probe)
            case BackendUnavailable() | BackendTimeout():
                gate.record_failure(now, probe=probe)
            case BackendRejected():
                gate.record_rejection(now, probe=probe)
            case _:
                gate.abandon(probe=probe)
        if self._lost(now):
            self._reject_all()
        self._admit()

    async def close(self) -> None:
        """Stop waking callers."""
        if self._wake_task is not None:
            self._wake_task.cancel()
            await asyncio.wait([self._wake_task])

    def _lost(self, now: float) -> bool:
        return all(gate.is_lost(now) for gate in self._gates)

    def _load(self, place: int) -> int:
        return self._gates[place].in_flight + len(self._queues[place])

    def _healthy(self, now: float) -> list[int]:
        return [place for place, gate in enumerate(self._gates) if gate.healthy(now)]

    def _admit(self) -> None:
        """Admit every caller that may enter now, and schedule a wake-up for the others."""
        if not any(self._queues):
            return
        now = self._clock.monotonic()
        for place, queue in enumerate(self._queues):
            while queue and self._gates[place].admits(now):
                self._admit_next(queue, place)
        healthy = self._healthy(now)
        for place, queue in enumerate(self._queues):
            while queue and place not in healthy and (free := self._free(healthy, now)):
                self._admit_next(queue, min(free, key=self._load))
        self._wake_later(now)

    def _free(self, healthy: list[int], now: float) -> list[int]:
        return [place for place in healthy if self._gates[place].admits(now)]

    def _admit_next(self, queue: _Waiting, place: int) -> None:
        gate = self._gates[place]
        caller = queue[0] if gate.limit else min(queue, key=lambda waiting: waiting.tries)
        queue.remove(caller)
        # A cancelled caller may not have removed itself yet.
        if not caller.turn.done():
            caller.turn.set_result(Turn(place, gate.enter()))

    def _reject_all(self) -> None:
        for queue in self._queues:
            for caller in queue:
                if not caller.turn.done():
                    caller.turn.set_exception(EndpointsLost())
            queue.clear()

    def _wake_later(self, now: float) -> None:
        times = [gate.opens_at for gate in self._gates if gate.opens_at > now]
        if not any(self._queues) or not times:
            return
        if self._wake_task is not None:
            if self._wake_time <= min(times):
                return
            self._wake_task.cancel()
        self._wake_time = min(times)
        self._wake_task = asyncio.ensure_future(self._wake(self._wake_time - now))

    async def _wake(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._wake_task = None
        self._admit()
