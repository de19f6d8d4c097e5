"""The aggregator's news of one run, relayed to one watcher."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from caliper.core.errors import BackendError, BackendRejected, StoreUnavailable
from caliper.ports.clock import Clock
from caliper.ports.stages import ScoreBoard, Scores

_PATIENCE = 1.0
"""Seconds until a board that went away, or that took the run for ended, is asked again."""


class Relay:
    """`latest` is what the board told last: a watcher that takes its time misses what lay
    between, keeps nothing, and holds nobody up.
    """

    def __init__(self, board: ScoreBoard, clock: Clock, latest: Scores | None) -> None:
        self._board, self._clock = board, clock
        self._latest = latest
        self._failure: Exception | None = None

    @property
    def latest(self) -> Scores | None:
        """Raises what ended the following: BackendRejected, or InvalidInput for a lost plan."""
        if self._failure is not None:
            raise self._failure
        return self._latest

    async def follow(self, run: str, interval: float) -> None:
        """Listen to the board until cancelled; when it goes away, until it is back."""
        while self._failure is None:
            try:
                async with aclosing(self._board.watch(run, interval)) as told:
                    async for scores in told:
                        self._latest = scores
            except Exception as error:  # noqa: BLE001 - the watcher raises it
                self._failure = None if _passes(error) else error
            await self._clock.sleep(_PATIENCE)


def _passes(error: Exception) -> bool:
    """Whether a board that failed so may answer again."""
    if isinstance(error, BackendRejected):
        return False
    return isinstance(error, BackendError | StoreUnavailable)


@asynccontextmanager
async def relayed(
    board: ScoreBoard, clock: Clock, run: str, interval: float, latest: Scores | None
) -> AsyncIterator[Relay]:
    """A relay that follows a run for as long as the context lasts; `latest` is known already."""
    relay = Relay(board, clock, latest)
    following = asyncio.create_task(relay.follow(run, interval))
    try:
        yield relay
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
