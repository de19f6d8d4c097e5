"""Relays of the aggregator's live scores to those who watch runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from caliper.core.errors import BackendError, BackendRejected, StoreUnavailable
from caliper.ports.clock import Clock
from caliper.ports.stages import ScoreBoard, Scores

_RETRY_PAUSE = 1.0
"""Seconds until a board that failed, or that ended its stream, is watched again."""


class Relay:
    """Follows the scores of a run and keeps only the `latest`.

    A slow watcher misses intermediate scores, but nothing is buffered and nobody has to wait.
    """

    def __init__(self, board: ScoreBoard, clock: Clock, latest: Scores | None) -> None:
        self._board, self._clock = board, clock
        self._latest = latest
        self._failure: Exception | None = None

    @property
    def latest(self) -> Scores | None:
        """The latest scores. Raises the error that ended `follow`: BackendRejected, or InvalidInput
        for a lost plan.
        """
        if self._failure is not None:
            raise self._failure
        return self._latest

    async def follow(self, run: str, interval: float) -> None:
        """Follow the board until cancelled, reconnecting when it is down."""
        while self._failure is None:
            try:
                async with aclosing(self._board.watch(run, interval)) as updates:
                    async for scores in updates:
                        self._latest = scores
            except Exception as error:  # noqa: BLE001 - the watcher raises it
                self._failure = None if _transient(error) else error
            await self._clock.sleep(_RETRY_PAUSE)


def _transient(error: Exception) -> bool:
    """Whether the error is transient: the board may answer later."""
    if isinstance(error, BackendRejected):
        return False
    return isinstance(error, BackendError | StoreUnavailable)


@dataclass(slots=True)
class _Shared:
    """A relay, its task, and how many watch by it."""

    relay: Relay
    task: asyncio.Task[None]
    watchers: int = 0


class Relays:
    """Relays by run and interval, each shared by all who watch the run: the board has one watch
    for them.
    """

    def __init__(self, board: ScoreBoard, clock: Clock) -> None:
        self._board, self._clock = board, clock
        self._shared: dict[tuple[str, float], _Shared] = {}

    @asynccontextmanager
    async def follow(
        self, run: str, interval: float, latest: Scores | None
    ) -> AsyncIterator[Relay]:
        """A relay that follows a run while the context lasts. A new one starts with `latest`."""
        key = run, interval
        shared = self._shared.get(key)
        # One that has failed is left to those who watch by it.
        if shared is None or shared.task.done():
            relay = Relay(self._board, self._clock, latest)
            task = asyncio.create_task(relay.follow(run, interval))
            shared = self._shared[key] = _Shared(relay, task)
        shared.watchers += 1
        try:
            yield shared.relay
        finally:
            shared.watchers -= 1
            if not shared.watchers:
                if self._shared.get(key) is shared:
                    del self._shared[key]
                shared.task.cancel()
                await asyncio.gather(shared.task, return_exceptions=True)
