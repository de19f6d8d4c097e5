"""Maps errors to google.rpc.Status with details, as gRPC callers see them.

The status code of each error is defined in the table of failures (core.errors), nowhere else.
"""

from __future__ import annotations

from typing import NoReturn

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, PreconditionFailure, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from caliper.core.errors import BackendOverloaded, InvalidInput, NotComparable, error_policy
from caliper.core.rows import note_of
from caliper.serving.calls import Context

_DEFAULT_DELAY = 1.0


def status_of(error: Exception) -> Status:
    """The status of an error, with details: field violations for InvalidInput, the differences
    for NotComparable, a retry delay for BackendOverloaded. Internal errors reveal no details.
    """
    code = grpc.StatusCode[error_policy(error).grpc_status or "INTERNAL"]
    if code is grpc.StatusCode.INTERNAL:
        return status(code, "internal error; see the service's log")
    if isinstance(error, InvalidInput) and code is grpc.StatusCode.INVALID_ARGUMENT:
        violation = BadRequest.FieldViolation(
            field=_without_surrogates(error.field), description=_without_surrogates(error.message)
        )
        return status(code, note_of(error), BadRequest(field_violations=[violation]))
    if isinstance(error, NotComparable):
        return status(
            code, str(error), PreconditionFailure(violations=map(_violation, error.reasons))
        )
    if isinstance(error, BackendOverloaded):
        return status(code, str(error), RetryInfo(retry_delay=_duration(error.retry_after)))
    return status(code, str(error))


def status(code: grpc.StatusCode, message: str, *details: Message) -> Status:
    """A status with a code, a message for people, and details for programs."""
    result = Status(code=code.value[0], message=_without_surrogates(message))
    for detail in details:
        packed = Packed()
        packed.Pack(detail)
        result.details.append(packed)
    return result


async def abort(context: Context, reason: Status) -> NoReturn:
    """Abort the call with that status."""
    result = rpc_status.to_status(reason)
    await context.abort(result.code, result.details, result.trailing_metadata)


def _violation(reason: tuple[str, str, str]) -> PreconditionFailure.Violation:
    kind, subject, description = map(_without_surrogates, reason)
    return PreconditionFailure.Violation(type=kind, subject=subject, description=description)


def _without_surrogates(text: str) -> str:
    """The text without lone surrogates (from broken escapes), which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def _duration(seconds: float | None) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(round((_DEFAULT_DELAY if seconds is None else seconds) * 1e9))
    return duration
