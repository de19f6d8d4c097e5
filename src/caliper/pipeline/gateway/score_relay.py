"""Relays the aggregator's scores of a run to a watcher."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

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


@asynccontextmanager
async def relayed(
    board: ScoreBoard, clock: Clock, run: str, interval: float, latest: Scores | None
) -> AsyncIterator[Relay]:
    """A relay that follows a run while the context lasts, starting with `latest`."""
    relay = Relay(board, clock, latest)
    task = asyncio.create_task(relay.follow(run, interval))
    try:
        yield relay
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
