"""Translation of a Triton server's failures into errors of core.errors."""

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
    # Triton itself does not use it: a proxy's limit, or an oversized message.
    StatusCode.RESOURCE_EXHAUSTED: BackendOverloaded,
}
_MESSAGES = {
    StatusCode.INVALID_ARGUMENT: "the Triton model cannot use the request",
    StatusCode.UNIMPLEMENTED: "the Triton model cannot be asked in this way",
    StatusCode.UNAUTHENTICATED: "the Triton server rejected the token, or none was sent",
    StatusCode.PERMISSION_DENIED: "the token does not allow the use of this Triton model",
    StatusCode.DEADLINE_EXCEEDED: "the Triton model gave no answer in time",
    StatusCode.RESOURCE_EXHAUSTED: "the Triton server takes no more, or a message was too large",
    StatusCode.INTERNAL: "the Triton model failed",
}
_MAYBE_TOO_LONG = (StatusCode.INTERNAL, StatusCode.INVALID_ARGUMENT, None)
"""The statuses of a request that is too long: the vLLM backend reports it as its own failure."""
_BY_NAME = {str(code): code for code in StatusCode}
_UNTRUSTED = ("CERTIFICATE_VERIFY_FAILED", "is not in peer certificate")
"""gRPC's messages for an untrusted certificate; its status is that of an unreachable server."""
_QUEUE_FULL = "Exceeds maximum queue size"
"""The message of Triton's core for a full queue. Its status is that of a server that is away; in a
stream it comes without one.
"""


def code_of(error: InferenceServerException | AioRpcError) -> StatusCode | None:
    """The status of a failure; None if a stream reported it without one."""
    if isinstance(error, AioRpcError):
        return error.code()
    return _BY_NAME.get(error.status() or "")


def is_queue_full(error: InferenceServerException | AioRpcError) -> bool:
    """Whether the model refused a request because too many wait for it."""
    return _QUEUE_FULL in _detail(error)


def failure(error: InferenceServerException | AioRpcError) -> BackendError:
    """The error for a failed call.

    Its message includes the server's own text, cut to 200 characters: the stack trace of a
    model's own code can be long.
    """
    code = code_of(error)
    kind: type[BackendError] = BackendUnavailable
    summary = "the Triton server failed"
    if code is not None:
        kind = _KINDS.get(code, kind)
        summary = _MESSAGES.get(code, f"{summary} ({code.name})")
    detail = _detail(error)
    text = " ".join(detail.split())[:200]
    if code in _MAYBE_TOO_LONG and too_long(detail):
        return BackendRejected(
            f"the Triton model cannot use the request: {TOO_LONG}; it says: {text}"
        )
    if any(word in detail for word in _UNTRUSTED):
        return BackendRejected(f"the Triton server's certificate is not trusted; gRPC says: {text}")
    return kind(f"{summary}; it says: {text}")


def _detail(error: InferenceServerException | AioRpcError) -> str:
    return (error.details() if isinstance(error, AioRpcError) else error.message()) or ""
