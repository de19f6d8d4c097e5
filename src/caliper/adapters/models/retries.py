"""Retries of transient failures, within a budget."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from caliper.core.backoff import Backoff
from caliper.core.errors import BackendOverloaded, BackendTimeout, BackendUnavailable
from caliper.ports.clock import Clock

Result = TypeVar("Result")

_BACKOFF = Backoff(0.25, 15.0)
RETRYABLE = (BackendOverloaded, BackendUnavailable, BackendTimeout)


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one call, in seconds and tries.

    A try times out after `try_seconds`. No try starts once tries and the waits between them
    took `seconds`; time in a queue before a try does not count. So a call that never queues
    ends within `seconds + try_seconds`.
    """

    try_seconds: float = 120.0
    seconds: float = 300.0
    tries: int = 6


class Effort:
    """The tries and seconds spent on one call. Wrap every try in `with effort:`."""

    def __init__(self, budget: Budget, clock: Clock) -> None:
        self.budget, self._clock = budget, clock
        self.spent = 0.0
        self.tries = 0
        self._started_at = 0.0

    def __enter__(self) -> None:
        self.tries += 1
        self._started_at = self._clock.monotonic()

    def __exit__(self, *_: object) -> None:
        self.spent += self._clock.monotonic() - self._started_at

    async def retry(
        self,
        attempt: Callable[[], Awaitable[Result]],
        elsewhere: Callable[[], bool] = lambda: False,
    ) -> Result:
        """The result of the first `attempt` that succeeds.

        There is no wait before a try that can be made `elsewhere`. Raises the last
        BackendOverloaded, BackendUnavailable or BackendTimeout when the budget is spent, and
        every other error at once. A wait that exceeds the rest of the budget ends the call.
        """
        total_wait, failures = 0.0, 0
        while True:
            try:
                return await attempt()
            except RETRYABLE as error:
                failures += 1
                # No secret depends on this draw.
                draw = random.random()  # noqa: S311
                retry_after = error.retry_after if isinstance(error, BackendOverloaded) else None
                wait = 0.0 if elsewhere() else _BACKOFF.wait(failures, draw, retry_after)
                total_wait += wait
                over_budget = self.spent + total_wait > self.budget.seconds
                if over_budget or failures >= self.budget.tries:
                    raise
            await self._clock.sleep(wait)
