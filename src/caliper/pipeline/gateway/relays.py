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
"""Seconds before watching a board again that failed or ended its stream."""


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
            except BackendRejected as error:
                self._failure = error
            except (BackendError, StoreUnavailable):
                # The board may answer later.
                pass
            except Exception as error:  # noqa: BLE001 - the watcher raises it
                self._failure = error
            await self._clock.sleep(_RETRY_PAUSE)


@dataclass(slots=True)
class _SharedRelay:
    """A relay, its task, and the number of its watchers."""

    relay: Relay
    task: asyncio.Task[None]
    watchers: int = 0


class Relays:
    """Relays by run and interval, each shared by all watchers of the run: the board sees one."""

    def __init__(self, board: ScoreBoard, clock: Clock) -> None:
        self._board, self._clock = board, clock
        self._shared: dict[tuple[str, float], _SharedRelay] = {}

    @asynccontextmanager
    async def follow(
        self, run: str, interval: float, latest: Scores | None
    ) -> AsyncIterator[Relay]:
        """A relay that follows a run while the context lasts. A new one starts with `latest`."""
        key = run, interval
        shared = self._shared.get(key)
        # A failed relay is left to its present watchers.
        if shared is None or shared.task.done():
            relay = Relay(self._board, self._clock, latest)
            task = asyncio.create_task(relay.follow(run, interval))
            shared = self._shared[key] = _SharedRelay(relay, task)
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
