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
    stop_before_delay,
    wait_random_exponential,
)

from caliper.core.errors import BackendOverloaded, BackendTimeout, BackendUnavailable

Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]

_BACKOFF = wait_random_exponential(multiplier=0.5, max=30)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one call may cost, in seconds and tries.

    A try is given up after `try_seconds`. No try starts later than `seconds` after the
    first one, so a call ends within `seconds + try_seconds`.
    """

    try_seconds: float = 120.0
    seconds: float = 300.0
    tries: int = 6


async def retried(attempt: Callable[[], Awaitable[Result]], budget: Budget, sleep: Sleep) -> Result:
    """The result of the first `attempt` that succeeds.

    Raises its last BackendOverloaded, BackendUnavailable or BackendTimeout when the budget
    is spent, and every other error at once. A server that asks for a longer wait than is
    left is not waited for.
    """
    # A new object a call: tenacity keeps the state of its iteration in the object.
    retrying = AsyncRetrying(
        retry=retry_if_exception_type((BackendOverloaded, BackendUnavailable, BackendTimeout)),
        stop=stop_after_attempt(budget.tries) | stop_before_delay(budget.seconds),
        wait=_wait,
        sleep=sleep,
        reraise=True,
    )
    return await retrying(attempt)


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
