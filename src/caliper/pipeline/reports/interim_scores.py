"""Scores of running runs, recomputed on request and rate-limited by their cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from caliper.core.run import FINAL_STATES, RunState
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.tallies import LiveTallies
from caliper.ports.clock import Clock
from caliper.ports.stages import Scores

_SHARE = 10
"""A task takes at most a tenth of the time, and waits accordingly before it runs again."""
_PATIENCE = 3.0
"""Seconds to wait for scores to be computed: less than any caller's deadline."""


class InterimScores:
    """The scores of runs, with a budget for the time that computing them takes.

    All recurring tasks share a tenth of the time: with n tasks, each gets an n-th of that. Tasks
    that are charged `alone` get a tenth each.
    """

    def __init__(self, clock: Clock, live: LiveTallies, patience: float = _PATIENCE) -> None:
        self._clock, self._live, self._patience = clock, live, patience
        self._computing: dict[str, asyncio.Task[None]] = {}
        self._ready: dict[str, float] = {}

    def may_run(self, task: str) -> bool:
        """Whether the budget of a task, as recorded by `charge`, lets it run again."""
        return self._clock.monotonic() >= self._ready.get(task, 0.0)

    @contextmanager
    def charge(self, task: str, *, alone: bool = False) -> Iterator[None]:
        """Charge the time of the context to a task. While it runs, the task is not affordable."""
        started = self._clock.monotonic()
        self._ready[task] = float("inf")
        try:
            yield
        finally:
            now = self._clock.monotonic()
            # Absent if the run was dropped meanwhile.
            if task in self._ready:
                tasks = 1 if alone else len(self._ready)
                self._ready[task] = now + (now - started) * (_SHARE * tasks - 1)

    async def scores(self, run: RunLedger, *, wait: bool = False) -> Scores:
        """The scores of a run, recomputed when `may_run`. While the scores of a large run are
        being computed, returns the previous ones, or none.

        For a run that is over, the scores cover its whole ledger, or are absent, because
        callers do not ask again. If `wait`, this waits for them however long it takes.

        Raises InvalidInput when its plan is lost, StoreUnavailable.
        """
        # Read together: the scores may be newer than the state, but never older than an end.
        error = run.error if run.state is RunState.FAILED else ""
        current, changes = Scores(run.state, (), error, run.start), run.ledger.changes
        last = current.state in FINAL_STATES and not run.is_broken
        with suppress(TimeoutError):
            async with asyncio.timeout(None if last and wait else self._patience):
                await self._wait_for_figures(run, changes, last=last)
        latest = self._live.cached_figures(run)
        if latest is None or (last and latest[0] < changes):
            return current
        return replace(current, benchmarks=latest[1].benchmarks)

    async def _wait_for_figures(self, run: RunLedger, changes: int, *, last: bool) -> None:
        """Wait for figures that cover `changes`; single-flight: computed once for all callers."""
        while (latest := self._live.cached_figures(run)) is None or latest[0] < changes:
            task = self._computing.get(run.run)
            if task is None:
                if not last and not self.may_run(run.run):
                    return
                task = self._computing[run.run] = asyncio.create_task(self._compute(run))
            # A caller that stops waiting does not cancel it: the next one uses its result.
            await asyncio.wait({task})
            if self._computing.get(run.run) is task:
                del self._computing[run.run]
            if task.cancelled():
                # The run was dropped meanwhile.
                return
            task.result()

    async def _compute(self, run: RunLedger) -> None:
        # Waiting for the turn is not charged.
        async with self._live.turn:
            with self.charge(run.run):
                await self._live.figures(run)

    def forget(self, run: str) -> None:
        """A run was dropped: cancel its computation."""
        computation = self._computing.pop(run, None)
        if computation is not None:
            computation.cancel()
        for task in (run, f"{run}/report"):
            self._ready.pop(task, None)


async def changes_of(
    scores: Callable[[], Awaitable[Scores | None]], interval: float, clock: Clock
) -> AsyncGenerator[Scores, None]:
    """Poll `scores` every `interval` seconds and yield its result whenever it changed.

    Ends after a state that is over, or when `scores` returns None. Raises what `scores` raises.
    """
    last = None
    while (current := await scores()) is not None:
        if current != last:
            yield current
        if current.state in FINAL_STATES:
            return
        last = current
        await clock.sleep(interval)
