"""A connection to a service, and what its failures are to us."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import grpc
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, PreconditionFailure
from grpc_status import rpc_status
from pydantic import SecretStr

from caliper.adapters.trust import roots
from caliper.core.errors import (
    AlreadyExists,
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
    NotComparable,
    NotFound,
    NotReady,
)

_Detail = TypeVar("_Detail", bound=Message)
_LARGEST = 16 * 1024 * 1024
_CODES: dict[grpc.StatusCode, type[Exception]] = {
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExists,
    grpc.StatusCode.FAILED_PRECONDITION: NotReady,
    grpc.StatusCode.RESOURCE_EXHAUSTED: BackendOverloaded,
    grpc.StatusCode.UNAVAILABLE: BackendUnavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: BackendTimeout,
    grpc.StatusCode.UNAUTHENTICATED: BackendRejected,
    grpc.StatusCode.PERMISSION_DENIED: BackendRejected,
}


@dataclass(frozen=True, slots=True)
class Target:
    """A service at `address` (host:port). `ca` is a PEM file: with it the connection is TLS, and
    with `tls` it is too, on the certificates that this machine trusts.

    `silence`: seconds without a word until it is asked for a sign of life while calls are open;
    they fail as BackendUnavailable when none comes in another third of that.
    """

    address: str
    token: SecretStr | None = None
    ca: Path | None = None
    tls: bool = False
    silence: float = 30.0

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries."""
        if self.token is None:
            return ()
        return (("authorization", f"Bearer {self.token.get_secret_value()}"),)

    def channel(self) -> grpc.aio.Channel:
        """A connection, opened with its first call. Raises InvalidInput for a CA that cannot be
        used.
        """
        options = (
            ("grpc.max_receive_message_length", _LARGEST),
            # A service that was away is tried again within a second or two.
            ("grpc.max_reconnect_backoff_ms", 2000),
            # A machine or a process that stands still closes no connection.
            ("grpc.keepalive_time_ms", round(self.silence * 1000)),
            # What ends the wait for an answer; grpc.keepalive_timeout_ms does not.
            ("grpc.http2.ping_timeout_ms", round(self.silence * 1000 / 3)),
            # By default it is no longer asked for once two answers brought no news.
            ("grpc.http2.max_pings_without_data", 0),
        )
        if self.ca is None and not self.tls:
            # Not by way of a proxy, which would read all of it.
            direct = (*options, ("grpc.enable_http_proxy", 0))
            return grpc.aio.insecure_channel(self.address, options=direct)
        return grpc.aio.secure_channel(
            self.address, grpc.ssl_channel_credentials(roots(self.ca)), options=options
        )


@asynccontextmanager
async def told(target: Target) -> AsyncIterator[None]:
    """Failures of calls to `target` as our own, with what the service said."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise _failure(error, target.address) from error


def _failure(error: grpc.aio.AioRpcError, address: str) -> Exception:
    message = error.details() or error.code().name
    if error.code() is grpc.StatusCode.INVALID_ARGUMENT:
        return _invalid(error, message)
    reasons = tuple(
        (each.type, each.subject, each.description)
        for each in _detail(error, PreconditionFailure()).violations
    )
    if reasons:
        return NotComparable(message, reasons)
    kind = _CODES.get(error.code(), BackendError)
    return kind(message if kind in (NotFound, AlreadyExists, NotReady) else f"{address}: {message}")


def _invalid(error: grpc.aio.AioRpcError, message: str) -> InvalidInput:
    for first in _detail(error, BadRequest()).field_violations:
        return InvalidInput(first.description, field=first.field)
    return InvalidInput(message)


def _detail(error: grpc.aio.AioRpcError, detail: _Detail) -> _Detail:
    """The detail of that type that came with a failure, empty where none did."""
    # Its types know calls only, but it reads nothing else than what an error has as well.
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    for packed in status.details if status else ():
        if packed.Unpack(detail):
            break
    return detail
