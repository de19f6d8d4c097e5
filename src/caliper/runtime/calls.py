"""The call that is being answered: who asked, and how long there is."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc

from caliper.runtime.tokens import Caller

# A text, because the class is generic in its types only.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
"""What gRPC hands to a method beside the request."""


@dataclass(frozen=True, slots=True)
class Call:
    """`deadline` is in the event loop's time; None for a stream that lasts."""

    caller: Caller
    deadline: float | None

    def remaining(self) -> float | None:
        """Seconds that are left, at least 0: the deadline of whatever is called in turn."""
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - asyncio.get_running_loop().time())


_CALL: ContextVar[Call] = ContextVar("call")


def current_call() -> Call:
    """The call that this task answers. Raises LookupError outside of one."""
    return _CALL.get()


def remaining_of_call() -> float | None:
    """Seconds that are left of the call that this task answers; None for no end, and outside
    of a call.
    """
    call = _CALL.get(None)
    return None if call is None else call.remaining()


def begin(call: Call) -> None:
    """From here on this task answers `call`."""
    _CALL.set(call)
