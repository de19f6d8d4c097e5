"""What a Triton server's failures are to us."""

from __future__ import annotations

from grpc import StatusCode
from grpc.aio import AioRpcError
from tritonclient.utils import InferenceServerException

from caliper.adapters.models.context import TOO_LONG, too_long
from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
)

_KINDS: dict[StatusCode, type[BackendError]] = {
    StatusCode.INVALID_ARGUMENT: BackendRejected,
    StatusCode.UNIMPLEMENTED: BackendRejected,
    StatusCode.UNAUTHENTICATED: BackendRejected,
    StatusCode.PERMISSION_DENIED: BackendRejected,
    StatusCode.DEADLINE_EXCEEDED: BackendTimeout,
    # Triton itself does not use it: a proxy's limit, or a message over the limit of its size.
    StatusCode.RESOURCE_EXHAUSTED: BackendOverloaded,
}
_TOLD = {
    StatusCode.INVALID_ARGUMENT: "the Triton model cannot use the request",
    StatusCode.UNIMPLEMENTED: "the Triton model cannot be asked in this way",
    StatusCode.UNAUTHENTICATED: "the Triton server wants a token, or another one",
    StatusCode.PERMISSION_DENIED: "the token does not allow the use of this Triton model",
    StatusCode.DEADLINE_EXCEEDED: "the Triton model gave no answer in time",
    StatusCode.RESOURCE_EXHAUSTED: "the Triton server takes no more, or a message was too large",
    StatusCode.INTERNAL: "the Triton model failed",
}
_OF_THE_REQUEST = (StatusCode.INTERNAL, StatusCode.INVALID_ARGUMENT, None)
"""Statuses with which a model refuses what is too long for it: the vLLM backend tells it as its
own failure.
"""
_BY_NAME = {str(code): code for code in StatusCode}
_UNTRUSTED = ("CERTIFICATE_VERIFY_FAILED", "is not in peer certificate")
"""How gRPC says that it does not trust who answers, with the status of a server that is away."""
_QUEUE_FULL = "Exceeds maximum queue size"
"""How Triton's core says it, in a stream without the status that it has elsewhere."""


def code_of(error: InferenceServerException | AioRpcError) -> StatusCode | None:
    """The status of a failure; None for what a stream tells without one."""
    if isinstance(error, AioRpcError):
        return error.code()
    if _QUEUE_FULL in (error.message() or ""):
        return StatusCode.UNAVAILABLE
    return _BY_NAME.get(error.status() or "")


def failure(error: InferenceServerException | AioRpcError) -> BackendError:
    """The failure that a status stands for.

    What the server says of it is part of the message, cut to 200 characters: the stack of a
    model's own code can be long.
    """
    code = code_of(error)
    kind: type[BackendError] = BackendUnavailable
    told = "the Triton server failed"
    if code is not None:
        kind = _KINDS.get(code, kind)
        told = _TOLD.get(code, f"{told} ({code.name})")
    said = error.details() if isinstance(error, AioRpcError) else error.message()
    text = " ".join((said or "").split())[:200]
    if code in _OF_THE_REQUEST and too_long(said or ""):
        return BackendRejected(
            f"the Triton model cannot use the request: {TOO_LONG}; it says: {text}"
        )
    if said and any(word in said for word in _UNTRUSTED):
        return BackendRejected(f"the Triton server's certificate is not trusted; gRPC says: {text}")
    return kind(f"{told}; it says: {text}")
