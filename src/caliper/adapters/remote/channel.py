"""Connections to services, and the translation of their failures into errors of core.errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import grpc
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, PreconditionFailure, RetryInfo
from grpc_status import rpc_status
from pydantic import SecretStr

from caliper.adapters.files import Stamp, file_stamp
from caliper.adapters.trust import ca_certificates, certificate_error
from caliper.core.errors import (
    AlreadyExists,
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    DataLoss,
    InvalidInput,
    NotComparable,
    NotFound,
    NotReady,
)

_Detail = TypeVar("_Detail", bound=Message)
_LARGEST = 16 * 1024 * 1024
_TIMEOUT = 60.0
_PAGE = 500
_OF_RUNS = (NotFound, AlreadyExists, NotReady, DataLoss)
_CODES: dict[grpc.StatusCode, type[Exception]] = {
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.DATA_LOSS: DataLoss,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExists,
    grpc.StatusCode.FAILED_PRECONDITION: NotReady,
    grpc.StatusCode.UNAVAILABLE: BackendUnavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: BackendTimeout,
    grpc.StatusCode.UNAUTHENTICATED: BackendRejected,
    grpc.StatusCode.PERMISSION_DENIED: BackendRejected,
}


@dataclass(frozen=True, slots=True)
class Target:
    """A service at `address` (host:port).

    With `ca`, a PEM file, the connection uses TLS; with `tls` alone it uses TLS and the
    certificates that this machine trusts, and shows `identity`: PEM files of a certificate and its
    key, for services that want one. `silence`: seconds without data until an open call sends
    a keepalive ping; without an answer in another third of that, it fails as BackendUnavailable.
    """

    address: str
    token: SecretStr | None = None
    ca: Path | None = None
    tls: bool = False
    silence: float = 30.0
    identity: tuple[Path, Path] | None = None

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call."""
        if self.token is None:
            return ()
        return (("authorization", f"Bearer {self.token.get_secret_value()}"),)

    def channel(self) -> grpc.aio.Channel:
        """A channel that connects with its first call. Raises InvalidInput for unusable files."""
        options = (
            ("grpc.max_receive_message_length", _LARGEST),
            # Reconnect within two seconds of a service's return.
            ("grpc.max_reconnect_backoff_ms", 2000),
            # A hanging machine or process closes no connections.
            ("grpc.keepalive_time_ms", round(self.silence * 1000)),
            # This option ends the wait for a ping's answer; grpc.keepalive_timeout_ms does not.
            ("grpc.http2.ping_timeout_ms", round(self.silence * 1000 / 3)),
            # By default pings stop after two without data in between.
            ("grpc.http2.max_pings_without_data", 0),
        )
        if self.ca is None and not self.tls:
            # No proxy for plaintext: it could read everything.
            direct = (*options, ("grpc.enable_http_proxy", 0))
            return grpc.aio.insecure_channel(self.address, options=direct)
        return grpc.aio.secure_channel(self.address, self._credentials(), options=options)

    def _credentials(self) -> grpc.ChannelCredentials:
        trusted = ca_certificates(self.ca)
        if self.identity is None:
            return grpc.ssl_channel_credentials(trusted)
        certificate, key = self.identity
        try:
            pair = key.read_bytes(), certificate.read_bytes()
        except OSError as error:
            raise certificate_error(certificate, error) from error
        return grpc.ssl_channel_credentials(trusted, *pair)

    @property
    def stamps(self) -> list[Stamp]:
        """The stamps of the files: one changes whenever its file does."""
        files = (self.ca, *(self.identity or ()))
        return [file_stamp(file) for file in files if file is not None]


class ReopeningChannel:
    """The channel to a target, made with the first call and again when its files changed."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._stamps: list[Stamp] = []
        self._channels: list[grpc.aio.Channel] = []

    def current(self) -> grpc.aio.Channel:
        """The channel for a new call. Calls in flight end on theirs. Raises as `Target.channel`."""
        stamps = self._target.stamps
        if not self._channels or stamps != self._stamps:
            self._channels.append(self._target.channel())
            self._stamps = stamps
        return self._channels[-1]

    async def close(self) -> None:
        """Close the connections."""
        for channel in self._channels:
            await channel.close()


class Connection:
    """A connection to the service at `target`; its context closes it."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._reopening = ReopeningChannel(target)
        self._reopening.current()

    @property
    def _channel(self) -> grpc.aio.Channel:
        return self._reopening.current()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._reopening.close()

    async def _call(
        self, method: Callable[..., Any], request: Any, seconds: float = _TIMEOUT
    ) -> Any:
        """The response to a request, or to a stream of requests."""
        async with translate_errors(self._target):
            return await method(request, timeout=seconds, metadata=self._target.metadata)

    async def _pages(self, method: Callable[..., Any], request: Any) -> AsyncIterator[Any]:
        """The responses that list everything, page by page."""
        request.page_size = _PAGE
        while True:
            response = await self._call(method, request)
            yield response
            request.page_token = response.next_page_token
            if not request.page_token:
                return


@asynccontextmanager
async def translate_errors(target: Target) -> AsyncIterator[None]:
    """Translate failures of calls to `target`, keeping the service's message."""
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
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        delay = _detail(error, RetryInfo()).retry_delay.ToNanoseconds() / 1e9
        return BackendOverloaded(f"{address}: {message}", delay or None)
    kind = _CODES.get(error.code(), BackendError)
    if kind is BackendError and "RST_STREAM" in message:
        # Of a proxy: gRPC tells most of their reasons as if the service had failed.
        kind = BackendUnavailable
    return kind(message if kind in _OF_RUNS else f"{address}: {message}")


def _invalid(error: grpc.aio.AioRpcError, message: str) -> InvalidInput:
    for first in _detail(error, BadRequest()).field_violations:
        return InvalidInput(first.description, field=first.field)
    return InvalidInput(message)


def _detail(error: grpc.aio.AioRpcError, detail: _Detail) -> _Detail:
    """The failure's detail of the same type as `detail`, empty if there is none."""
    # Typed for calls only, but it uses only attributes that an error has, too.
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    for packed in status.details if status else ():
        if packed.Unpack(detail):
            break
    return detail
