"""Callers of one model before the gates of its endpoints: first come, first served.

The rules are in `gate`; here is only who waits, for which endpoint, and who wakes them.
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
    """A call that may be made: at which endpoint, and whether it is the probe of a shut one."""

    place: int
    probe: bool


class EndpointsLost(Exception):
    """Every endpoint gave nothing but trouble for longer than anybody should wait."""


@dataclass(frozen=True, slots=True, eq=False)
class _Caller:
    """Who waits for a turn, after so many tries that failed."""

    turn: asyncio.Future[Turn]
    tries: int


_Waiting = deque[_Caller]


class Admission:
    """The callers of endpoints with these gates. One event loop uses it.

    A caller waits for one endpoint, and is taken over by another when that one is in trouble.
    Of those who wait for one endpoint the first goes first; a cancelled one holds up nobody.
    Only the probe of a shut one is left to who failed least often: it may be the request of
    the others, and not the endpoint, that is at fault.
    """

    def __init__(self, gates: Sequence[CongestionWindow], clock: Clock) -> None:
        self._gates, self._clock = tuple(gates), clock
        self._queues: tuple[_Waiting, ...] = tuple(deque() for _ in gates)
        self._waking: asyncio.Task[None] | None = None
        self._wakes_at = 0.0

    def healthy(self, besides: AbstractSet[int]) -> bool:
        """Whether an endpoint that is not in `besides` takes calls."""
        return any(place not in besides for place in self._healthy(self._clock.monotonic()))

    def place_for(self, home: int | None, besides: AbstractSet[int] = frozenset()) -> int:
        """Where a new caller should go: to find out whether a lost endpoint is back where that
        is due, else to its `home`, else to the endpoint with the least to do. Those in
        `besides` come last.
        """
        now = self._clock.monotonic()
        healthy = self._healthy(now)
        probed = [
            place
            for place, gate in enumerate(self._gates)
            if place not in healthy and place not in besides and gate.admits(now)
        ]
        if probed:
            return probed[0]
        fresh = [place for place in healthy if place not in besides]
        if home is not None and home in (fresh or healthy):
            return home
        if healthy:
            return min(fresh or healthy, key=self._load)
        return min(range(len(self._gates)), key=lambda place: self._gates[place].opens)

    async def enter(self, place: int, tries: int = 0) -> Turn:
        """Wait for a turn at that endpoint, or at one that is in less trouble, after so many
        tries that failed.

        Raises EndpointsLost. The turn must be ended by `leave`.
        """
        gate, queue = self._gates[place], self._queues[place]
        if not queue and gate.admits(self._clock.monotonic()):
            return Turn(place, gate.enter())
        if tries and self._lost(self._clock.monotonic()):
            # Who has not tried yet is owed a look whether one is back.
            raise EndpointsLost
        waiting: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        caller = _Caller(waiting, tries)
        queue.append(caller)
        self._admit()
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.cancelled():
                with suppress(ValueError):
                    queue.remove(caller)
            elif waiting.exception() is None:
                # Its turn had come, and it will not be used.
                self.leave(waiting.result(), asyncio.CancelledError())
            raise

    def leave(self, turn: Turn, error: BaseException | None) -> None:
        """The call of a turn ended: with an answer, or with that error."""
        gate, now, probe = self._gates[turn.place], self._clock.monotonic(), turn.probe
        match error:
            case None:
                gate.succeeded(now, probe=probe)
            case BackendOverloaded(retry_after=asked):
                gate.overloaded(now, asked, probe=probe)
            case BackendUnavailable() | BackendTimeout():
                gate.failed(now, probe=probe)
            case BackendRejected():
                gate.answered(now, probe=probe)
            case _:
                gate.left(probe=probe)
        if self._lost(now):
            self._turn_away()
        self._admit()

    async def close(self) -> None:
        """Let nobody be woken any more."""
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.wait([self._waking])

    def _lost(self, now: float) -> bool:
        return all(gate.lost(now) for gate in self._gates)

    def _load(self, place: int) -> int:
        return self._gates[place].in_flight + len(self._queues[place])

    def _healthy(self, now: float) -> list[int]:
        return [place for place, gate in enumerate(self._gates) if gate.healthy(now)]

    def _admit(self) -> None:
        """Let in whoever may enter now, and see to it that the others are thought of again."""
        if not any(self._queues):
            return
        now = self._clock.monotonic()
        for place, queue in enumerate(self._queues):
            while queue and self._gates[place].admits(now):
                self._let_in(queue, place)
        healthy = self._healthy(now)
        for place, queue in enumerate(self._queues):
            while queue and place not in healthy and (free := self._free(healthy, now)):
                self._let_in(queue, min(free, key=self._load))
        self._wake_later(now)

    def _free(self, healthy: list[int], now: float) -> list[int]:
        return [place for place in healthy if self._gates[place].admits(now)]

    def _let_in(self, queue: _Waiting, place: int) -> None:
        gate = self._gates[place]
        caller = queue[0] if gate.limit else min(queue, key=lambda one: one.tries)
        queue.remove(caller)
        # One that was cancelled has not come round to leaving yet.
        if not caller.turn.done():
            caller.turn.set_result(Turn(place, gate.enter()))

    def _turn_away(self) -> None:
        for queue in self._queues:
            for caller in queue:
                if not caller.turn.done():
                    caller.turn.set_exception(EndpointsLost())
            queue.clear()

    def _wake_later(self, now: float) -> None:
        times = [gate.opens for gate in self._gates if gate.opens > now]
        if not any(self._queues) or not times:
            return
        if self._waking is not None:
            if self._wakes_at <= min(times):
                return
            self._waking.cancel()
        self._wakes_at = min(times)
        self._waking = asyncio.ensure_future(self._wake(self._wakes_at - now))

    async def _wake(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._waking = None
        self._admit()
