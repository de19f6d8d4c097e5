"""Failures as callers over gRPC see them: google.rpc.Status with details.

Which status a failure has stands in the table of failures (core.errors), nowhere else.
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

from caliper.core.errors import BackendOverloaded, InvalidInput, NotComparable, handling
from caliper.core.rows import note_of
from caliper.serving.calls import Context

_FIRST_WAIT = 1.0


def status_of(error: Exception) -> Status:
    """The status of a failure: field violations for InvalidInput, what differs for
    NotComparable, when to come back for BackendOverloaded. Defects of ours tell nothing but
    that there was one.
    """
    code = grpc.StatusCode[handling(error).grpc_status or "INTERNAL"]
    if code is grpc.StatusCode.INTERNAL:
        return status(code, "internal error; see the service's log")
    if isinstance(error, InvalidInput):
        violation = BadRequest.FieldViolation(
            field=_plain(error.field), description=_plain(error.message)
        )
        return status(code, note_of(error), BadRequest(field_violations=[violation]))
    if isinstance(error, NotComparable):
        return status(
            code, str(error), PreconditionFailure(violations=map(_differing, error.reasons))
        )
    if isinstance(error, BackendOverloaded):
        return status(code, str(error), RetryInfo(retry_delay=_duration(error.retry_after)))
    return status(code, str(error))


def status(code: grpc.StatusCode, message: str, *details: Message) -> Status:
    """A status with that code, that message for people, and those details for programs."""
    made = Status(code=code.value[0], message=_plain(message))
    for detail in details:
        packed = Packed()
        packed.Pack(detail)
        made.details.append(packed)
    return made


async def abort(context: Context, reason: Status) -> NoReturn:
    """End the call with that status."""
    found = rpc_status.to_status(reason)
    await context.abort(found.code, found.details, found.trailing_metadata)


def _differing(reason: tuple[str, str, str]) -> PreconditionFailure.Violation:
    kind, subject, description = map(_plain, reason)
    return PreconditionFailure.Violation(type=kind, subject=subject, description=description)


def _plain(text: str) -> str:
    """The text without lone surrogates, from somebody's broken escape: they cannot travel."""
    return text.encode("utf-8", "replace").decode()


def _duration(seconds: float | None) -> Duration:
    found = Duration()
    found.FromNanoseconds(round((_FIRST_WAIT if seconds is None else seconds) * 1e9))
    return found
