"""Shared by the methods of services: context, caller, deadline, and intervals of updates."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, TypeAlias

import grpc

from caliper.core.owners import Owner, Viewer
from caliper.serving.tokens import Caller, Role

# A string, because the class is generic only in its type stubs.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
"""The context that gRPC passes to a method beside the request."""

# In milliseconds. People do not read faster, and every update has a cost.
_DEFAULT_INTERVAL, _LEAST_INTERVAL = 1000, 50

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)
_CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)


def remaining_seconds() -> float | None:
    """Seconds left of the call that this task answers, at least 0; the deadline for calls it
    makes in turn. None without a deadline, and outside of a call.
    """
    deadline = _DEADLINE.get()
    return None if deadline is None else max(0.0, deadline - asyncio.get_running_loop().time())


def viewer() -> Viewer | None:
    """The caller whose call this task answers. None if tokens are off, and outside of a call."""
    caller = _CALLER.get()
    if caller is None or not caller.name:
        return None
    return Viewer(Owner(caller.name, caller.team), caller.role is Role.ADMIN)


def begin(deadline: float | None, caller: Caller) -> None:
    """Set the caller and the deadline of the call that this task answers, in the event loop's time.

    A long-lived stream has no deadline.
    """
    _DEADLINE.set(deadline)
    _CALLER.set(caller)


def seconds(interval_ms: int) -> float:
    """The least seconds between two updates; 0 requests the default."""
    return max(interval_ms or _DEFAULT_INTERVAL, _LEAST_INTERVAL) / 1000
