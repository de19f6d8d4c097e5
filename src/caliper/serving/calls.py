"""The call that is being answered: how long there is."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, TypeAlias

import grpc

# A text, because the class is generic in its types only.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
"""What gRPC hands to a method beside the request."""


_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


def remaining_of_call() -> float | None:
    """Seconds that are left of the call that this task answers, at least 0: the deadline of
    whatever is called in turn. None for no end, and outside of a call.
    """
    deadline = _DEADLINE.get()
    return None if deadline is None else max(0.0, deadline - asyncio.get_running_loop().time())


def begin(deadline: float | None) -> None:
    """From here on this task answers a call that ends at `deadline`, in the event loop's time;
    None for a stream that lasts.
    """
    _DEADLINE.set(deadline)
