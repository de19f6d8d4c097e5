"""The gRPC server, written once for all services.

TLS and tokens may be off on loopback addresses only: anywhere else the server does not start
without them. A second, plaintext port answers nothing but health, for probes that know neither.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address
from caliper.serving.guard import Guard
from caliper.serving.health import Check, Health, follow
from caliper.serving.tokens import TokenFile

MAX_RECEIVED = 5 * 1024 * 1024
"""Bytes of a message from a caller: 4 MiB of media, and room for the rest."""
MAX_SENT = 16 * 1024 * 1024
"""Bytes of a message to a caller; clients have to allow as many."""

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_RECEIVED),
    ("grpc.max_send_message_length", MAX_SENT),
    # Two servers on one port would share its calls without a word.
    ("grpc.so_reuseport", 0),
    # Finds out within 40 s that a caller is gone.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # Lets callers ask too. By default five times within five minutes end the connection.
    ("grpc.http2.min_ping_interval_without_data_ms", 200),
)
_MOST_CALLS = 1000
_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files: the certificate with its chain, and its private key without a password."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a service is reached. Times are in seconds.

    `tokens` is a token file (see runtime.tokens), `deadline` that of calls that came without
    one, `grace` what calls in flight get when the service stops, `check_every` how often
    readiness is asked for.
    """

    listen: Address
    health: Address | None = None
    tls: Tls | None = None
    tokens: Path | None = None
    deadline: float = 120.0
    grace: float = 30.0
    check_every: float = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """A servicer by its full name; `add` registers it with a server."""

    name: str
    add: Callable[[grpc.aio.Server], None]


class GrpcServer:
    """Serves `services` until it is stopped. Ready while none of `checks` fails."""

    def __init__(
        self, options: ServerOptions, services: Iterable[Service], checks: Mapping[str, Check]
    ) -> None:
        """Raises InvalidInput for options that would let strangers in, and for a token file
        that cannot be read.
        """
        refuse_open(options)
        self._options = options
        self._services = tuple(services)
        self._checks = checks
        self._guard = Guard(TokenFile(options.tokens) if options.tokens else None, options.deadline)
        self._health = Health(service.name for service in self._services)
        self._servers: list[grpc.aio.Server] = []
        self._following: asyncio.Task[None] | None = None
        self.address = options.listen
        self.health_address = options.health

    async def start(self) -> None:
        """Listen. `address` and `health_address` then have the ports that were given.

        Raises InvalidInput when the address is taken, or the certificate cannot be used.
        """
        server = grpc.aio.server(
            interceptors=[self._guard], options=_OPTIONS, maximum_concurrent_rpcs=_MOST_CALLS
        )
        for service in self._services:
            service.add(server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = [service.name for service in self._services]
        reflection.enable_server_reflection([*names, _HEALTH, reflection.SERVICE_NAME], server)
        self.address = _bind(server, self._options.listen, self._options.tls)
        self._servers.append(server)
        if self._options.health is not None:
            probed = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=_MOST_CALLS)
            health_pb2_grpc.add_HealthServicer_to_server(self._health, probed)
            self.health_address = _bind(probed, self._options.health, None)
            self._servers.append(probed)
        for each in self._servers:
            await each.start()
        followed = follow(self._health, self._checks, self._options.check_every)
        self._following = asyncio.create_task(followed)

    def drain(self) -> None:
        """Not ready from now on, while calls are still answered: nobody new is sent here."""
        self._health.enter_graceful_shutdown()

    async def stop(self) -> None:
        """Drain, end streams that last, let calls in flight finish, and leave.

        Calls that are not done after the grace are cut off. The health port answers to the end.
        """
        self.drain()
        self._guard.end_lasting()
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
        for server in self._servers:
            await server.stop(self._options.grace if server is self._servers[0] else None)


def refuse_open(options: ServerOptions, named: Callable[[str], str] = str) -> None:
    """Raise InvalidInput when anybody but this machine could call without TLS and a token;
    `named` tells what a setting is called where it is given.
    """
    if options.listen.loopback:
        return
    needed = {"tls_certificate": options.tls, "tls_key": options.tls, "tokens": options.tokens}
    missing = [named(field) for field, given in needed.items() if given is None]
    if missing:
        must = " and ".join(missing)
        message = f"other machines can reach {options.listen}, so {must} must be set"
        raise InvalidInput(message, field=named("listen"))


def _bind(server: grpc.aio.Server, address: Address, tls: Tls | None) -> Address:
    try:
        if tls is None:
            port = server.add_insecure_port(str(address))
        else:
            pair = (_pem(tls.key, "tls key"), _pem(tls.certificate, "tls certificate"))
            port = server.add_secure_port(str(address), grpc.ssl_server_credentials([pair]))
    except RuntimeError as error:
        reason = "the address is in use or does not belong to this machine"
        if tls is not None:
            reason += ", or certificate and key do not go together"
        raise InvalidInput(f"cannot listen on {address}: {reason}", field="listen") from error
    return replace(address, port=port)


def _pem(file: Path, field: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InvalidInput(message, file=str(file), field=field) from error
