"""Rolling scores: the report of the moment, computed only so often that it stays cheap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from caliper.core.run import OVER
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.tallies import LiveTallies
from caliper.ports.clock import Clock
from caliper.ports.stages import Scores

_SHARE = 10
"""What a task costs is a tenth, at most, of the time until it is begun anew."""
_PATIENCE = 3.0
"""Seconds that who asks waits for scores to be computed: less than any caller's deadline."""


class RollingScores:
    """The scores of runs, and what time they take together.

    With n tasks that recur, each waits so long that it takes a tenth of an n-th.
    """

    def __init__(self, clock: Clock, live: LiveTallies, patience: float = _PATIENCE) -> None:
        self._clock, self._live, self._patience = clock, live, patience
        self._computing: dict[str, asyncio.Task[None]] = {}
        self._ready: dict[str, float] = {}

    def affordable(self, task: str) -> bool:
        """Whether a task that was `spending` may run again."""
        return self._clock.monotonic() >= self._ready.get(task, 0.0)

    @contextmanager
    def spending(self, task: str) -> Iterator[None]:
        """Count what a task costs. While it runs, it is not affordable."""
        begun = self._clock.monotonic()
        self._ready[task] = float("inf")
        try:
            yield
        finally:
            now = self._clock.monotonic()
            # Else it was forgotten on the way.
            if task in self._ready:
                self._ready[task] = now + (now - begun) * (_SHARE * len(self._ready) - 1)

    async def scores(self, run: RunLedger, *, patient: bool = False) -> Scores:
        """The scores of a run, as old as `affordable` makes them. While those of a large run are
        computed, the last ones are told, or none.

        Of a run that is over they are those of all that it holds, or none: nobody asks again.
        Who is `patient` waits for them however long that takes.

        Raises InvalidInput when its plan is lost, StoreUnavailable.
        """
        # All of one moment: figures may be newer than the state, and never older than an end.
        told, known = Scores(run.state, (), run.error, run.start), run.ledger.changes
        last = told.state in OVER and not run.broken
        with suppress(TimeoutError):
            async with asyncio.timeout(None if last and patient else self._patience):
                await self._computed(run, known, last=last)
        held = self._live.held(run)
        if held is None or (last and held[0] < known):
            return told
        return replace(told, benchmarks=held[1].benchmarks)

    async def _computed(self, run: RunLedger, known: int, *, last: bool) -> None:
        """Wait until the figures of so many changes are there, as long as somebody computes any."""
        while (held := self._live.held(run)) is None or held[0] < known:
            computing = self._computing.get(run.run)
            if computing is None:
                if not last and not self.affordable(run.run):
                    return
                computing = self._computing[run.run] = asyncio.create_task(self._compute(run))
            # Who gives up waiting does not end it: the next one finds what came of it.
            await asyncio.wait({computing})
            if self._computing.get(run.run) is computing:
                del self._computing[run.run]
            if computing.cancelled():
                # The run was forgotten on the way.
                return
            computing.result()

    async def _compute(self, run: RunLedger) -> None:
        # Waiting for others costs nothing.
        async with self._live.turn:
            with self.spending(run.run):
                await self._live.figures(run)

    def forget(self, run: str) -> None:
        """A run that is no longer held."""
        computing = self._computing.pop(run, None)
        if computing is not None:
            computing.cancel()
        for task in (run, f"{run}/report"):
            self._ready.pop(task, None)


async def changes_of(
    scores: Callable[[], Awaitable[Scores | None]], interval: float, clock: Clock
) -> AsyncGenerator[Scores, None]:
    """What `scores` gives, and whenever that has changed, at most every `interval` seconds;
    ends with a state that is over, and at once where there are none. Raises what it raises.
    """
    last = None
    while (found := await scores()) is not None:
        if found != last:
            yield found
        if found.state in OVER:
            return
        last = found
        await clock.sleep(interval)
