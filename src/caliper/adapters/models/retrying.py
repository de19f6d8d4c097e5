"""Asking again what may go better next time, within a budget."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)
from tenacity.stop import stop_base

from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendTimeout,
    BackendUnavailable,
)
from caliper.ports.clock import Clock

Result = TypeVar("Result")

_BACKOFF = wait_random_exponential(multiplier=0.5, max=30)
PASSING = (BackendOverloaded, BackendUnavailable, BackendTimeout)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one call may cost, in seconds and tries.

    A try is given up after `try_seconds`. No try starts once tries and the waits between them
    took `seconds`; standing in a queue before a try is not counted. So a call that is not kept
    waiting ends within `seconds + try_seconds`.
    """

    try_seconds: float = 120.0
    seconds: float = 300.0
    tries: int = 6


class Effort:
    """What one call has cost so far: `with effort:` around every try adds it and its time."""

    def __init__(self, budget: Budget, clock: Clock) -> None:
        self.budget, self._clock = budget, clock
        self.spent = 0.0
        self.tries = 0
        self._begun = 0.0

    def __enter__(self) -> None:
        self.tries += 1
        self._begun = self._clock.monotonic()

    def __exit__(self, *_: object) -> None:
        self.spent += self._clock.monotonic() - self._begun

    async def retried(
        self,
        attempt: Callable[[], Awaitable[Result]],
        elsewhere: Callable[[], bool] = lambda: False,
    ) -> Result:
        """The result of the first `attempt` that succeeds.

        There is no wait before a try that can be made `elsewhere`. Raises the last
        BackendOverloaded, BackendUnavailable or BackendTimeout when the budget is spent, and
        every other error at once. A server that asks for a longer wait than is left is not
        waited for.
        """
        try:
            return await attempt()
        except PASSING as error:
            first: list[BackendError] = [error]

        async def again() -> Result:
            if first:
                raise first.pop()
            return await attempt()

        # Only now, for most calls are well: tenacity keeps the state of its iteration in the
        # object, and making one costs a tenth of a call.
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(PASSING),
            stop=stop_after_attempt(self.budget.tries) | _Spent(self),
            wait=lambda state: 0.0 if elsewhere() else _wait(state),
            sleep=self._clock.sleep,
            reraise=True,
        )
        return await retrying(again)


class _Spent(stop_base):
    """Stops before a wait that passes what an effort may take."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort

    def __call__(self, state: RetryCallState) -> bool:
        taken = self._effort.spent + state.idle_for
        return taken + state.upcoming_sleep > self._effort.budget.seconds


def _wait(state: RetryCallState) -> float:
    """Exponential with full jitter, on top of what the server asked for.

    The jitter comes on top so that callers who were sent away together do not return
    together.
    """
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, BackendOverloaded) else None
    if asked is None:
        return _BACKOFF(state)
    # No secret depends on this draw.
    return asked * (1 + 0.1 * random.random())  # noqa: S311
