"""Rolling scores: the report of the moment, computed only so often that it stays cheap."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager

from caliper.core.report import BenchmarkReport
from caliper.core.run import OVER
from caliper.pipeline.aggregate import report
from caliper.pipeline.tracked import TrackedRun
from caliper.ports.clock import Clock
from caliper.ports.stages import Scores

_SHARE = 10
"""What a task costs is a tenth, at most, of the time until it is begun anew."""


class RollingScores:
    """The scores of runs, and what time they take together.

    With n tasks that recur, each waits so long that it takes a tenth of an n-th.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: dict[str, float] = {}
        self._held: dict[str, tuple[int, tuple[BenchmarkReport, ...]]] = {}

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
            self._ready[task] = now + (now - begun) * (_SHARE * len(self._ready) - 1)

    async def scores(self, run: TrackedRun) -> Scores:
        """The scores of a run, as old as `affordable` makes them.

        Raises InvalidInput when its plan is lost, StoreUnavailable.
        """
        changes, figures = self._held.get(run.run, (-1, ()))
        if changes != run.ledger.changes and self.affordable(run.run):
            changes = run.ledger.changes
            with self.spending(run.run):
                found = await report(run.spec, run.summary, run.plan, run.ledger, {})
            figures = found.benchmarks
            self._held[run.run] = (changes, figures)
        return Scores(run.state, figures, run.error, run.start)

    def forget(self, run: str) -> None:
        """A run that is no longer held."""
        for task in (run, f"{run}/report"):
            self._ready.pop(task, None)
        self._held.pop(run, None)


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
