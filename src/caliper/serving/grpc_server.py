"""The gRPC server shared by all services.

TLS and tokens are optional on loopback addresses only; elsewhere the server does not start without
them. A second, plaintext port serves only health, for probes that support neither.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from caliper.adapters.wire.rpc import generic_handler
from caliper.core.errors import InvalidInput
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.addresses import Address
from caliper.serving.audit import Audit
from caliper.serving.guard import Guard
from caliper.serving.health import Check, Health, follow
from caliper.serving.server_certificates import Tls
from caliper.serving.tokens import TokenFile

MAX_RECEIVED = 5 * 1024 * 1024
"""The most bytes in a message from a caller: 4 MiB of media, and room for the rest."""
MAX_SENT = 16 * 1024 * 1024
"""The most bytes in a message to a caller; clients have to allow as many."""

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_RECEIVED),
    ("grpc.max_send_message_length", MAX_SENT),
    # Otherwise two servers on one port would silently share its calls.
    ("grpc.so_reuseport", 0),
    # Detects within 40 s that a caller is gone.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # Lets callers ping, too. By default, five pings within five minutes end the connection.
    ("grpc.http2.min_ping_interval_without_data_ms", 200),
)
MOST_CALLS = 1000
"""The most calls in flight; further ones are RESOURCE_EXHAUSTED."""
_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a service is reached. Times are in seconds.

    `tokens` is a token file (see serving.tokens), `deadline` the default for calls without one,
    `grace` the time for calls in flight when the service stops, `check_every` the interval of
    readiness checks.
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
    """A service of the contract. `servicer` has its methods, by their names there."""

    contract: ServiceDescriptor
    servicer: object

    @property
    def name(self) -> str:
        """The full name."""
        return str(self.contract.full_name)


class GrpcServer:
    """Serves `services` until stopped. Ready while none of `checks` fails.

    `telemetry` counts refused calls.
    """

    def __init__(
        self,
        options: ServerOptions,
        services: Iterable[Service],
        checks: Mapping[str, Check],
        telemetry: Telemetry = SILENT,
    ) -> None:
        """Raises InvalidInput for options that would give other machines open access, and for a
        token file that cannot be read.
        """
        refuse_open(options)
        self._options = options
        self._services = list(services)
        self._checks = dict(checks)
        self._audit = Audit(telemetry)
        tokens = TokenFile(options.tokens) if options.tokens else None
        self._guard = Guard(tokens, options.deadline, self._audit)
        self._health = Health(service.name for service in self._services)
        self._main: grpc.aio.Server | None = None
        self._probed: grpc.aio.Server | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.address = options.listen
        self.health_address = options.health

    def add(self, services: Iterable[Service], checks: Mapping[str, Check]) -> None:
        """Serve these as well, from `start` on."""
        for service in services:
            self._services.append(service)
            self._health.add(service.name)
        self._checks |= checks

    async def start_health(self) -> None:
        """Start listening for health checks: not ready before `start`. `health_address` then has
        the actual port. Raises InvalidInput when it is taken.
        """
        if self._options.health is None or self._probed is not None:
            return
        self._probed = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=MOST_CALLS)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._probed)
        self.health_address = _bind(self._probed, self._options.health, None)
        await self._probed.start()

    async def start(self) -> None:
        """Start listening. `address` and `health_address` then have the actual ports.

        Raises InvalidInput when an address is taken, or the certificate cannot be used.
        """
        await self.start_health()
        server = grpc.aio.server(
            interceptors=[self._guard], options=_OPTIONS, maximum_concurrent_rpcs=MOST_CALLS
        )
        for service in self._services:
            handler = generic_handler(service.contract, service.servicer)
            server.add_generic_rpc_handlers((handler,))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = [service.name for service in self._services]
        reflection.enable_server_reflection([*names, _HEALTH, reflection.SERVICE_NAME], server)
        self.address = _bind(server, self._options.listen, self._options.tls)
        await server.start()
        self._main = server
        checking = follow(self._health, self._checks, self._options.check_every)
        self._tasks = [asyncio.create_task(checking), asyncio.create_task(self._audit.run())]

    def drain(self) -> None:
        """Report not ready, so that no new callers are routed here; calls are still answered."""
        self._health.enter_graceful_shutdown()

    async def stop(self) -> None:
        """Drain, end long-lived streams, let calls in flight finish, and stop.

        Calls that are not done after `grace` are cut off. The health port answers to the end.
        """
        self.drain()
        self._guard.end_streams()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._main is not None:
            await self._main.stop(self._options.grace)
        self._audit.refusals.end_minute()
        if self._probed is not None:
            await self._probed.stop(None)


def refuse_open(options: ServerOptions, named: Callable[[str], str] = str) -> None:
    """Raise InvalidInput if other machines could call without TLS and a token.

    `named` maps an option to the name that users know it by.
    """
    if options.listen.loopback:
        return
    needed = {"tls_certificate": options.tls, "tls_key": options.tls, "tokens": options.tokens}
    missing = [named(field) for field, value in needed.items() if value is None]
    if missing:
        must = " and ".join(missing)
        message = f"other machines can reach {options.listen}, so {must} must be set"
        raise InvalidInput(message, field=named("listen"))


def _bind(server: grpc.aio.Server, address: Address, tls: Tls | None) -> Address:
    try:
        if tls is None:
            port = server.add_insecure_port(str(address))
        else:
            port = server.add_secure_port(str(address), tls.credentials())
    except RuntimeError as error:
        reason = "the address is in use or does not belong to this machine"
        if tls is not None:
            reason += ", or certificate and key do not match"
        raise InvalidInput(f"cannot listen on {address}: {reason}", field="listen") from error
    return replace(address, port=port)
