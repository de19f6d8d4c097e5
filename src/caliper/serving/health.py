"""Standard gRPC health: readiness follows what the service needs, liveness does not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from caliper.serving.calls import Context

_LOG = logging.getLogger(__name__)

LIVE = "live"
"""The name under which liveness is asked for: SERVING for as long as the process answers.

Every other name (none, or that of a service) asks for readiness.
"""

Check = Callable[[], Awaitable[None]]
"""Returns when something that the service needs is there, raises when it is not."""

_Response = health_pb2.HealthCheckResponse


class Health(health_pb2_grpc.HealthServicer):
    """The health of the services of one process, not ready at first.

    Ours, because that of grpcio-health-checking forgets all watchers of a service when one of
    them leaves, and calls a process that drains dead.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._services = ("", *services)
        self._ready = False
        self._stopping = False
        self._turn = asyncio.Event()

    def set_ready(self, ready: bool) -> None:  # noqa: FBT001 - the one thing that it sets
        """Say whether the services can work. Without effect once shutting down."""
        if ready != self._ready and not (ready and self._stopping):
            self._ready = ready
            turn, self._turn = self._turn, asyncio.Event()
            turn.set()

    def enter_graceful_shutdown(self) -> None:
        """Not ready, for good. The process still counts as live."""
        self._stopping = True
        self.set_ready(False)

    async def Check(  # noqa: N802 - named in the protocol
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> _Response:
        """The status of a service, NOT_FOUND for an unknown one."""
        status = self._status(request.service)
        if status == _Response.SERVICE_UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return _Response(status=status)

    async def Watch(  # noqa: N802 - named in the protocol
        self,
        request: health_pb2.HealthCheckRequest,
        context: Context,  # noqa: ARG002 - nothing can go wrong
    ) -> AsyncIterator[_Response]:
        """The status of a service, now and whenever it changes."""
        last = None
        while True:
            turn, status = self._turn, self._status(request.service)
            if status != last:
                yield _Response(status=status)
                last = status
            await turn.wait()

    def _status(self, service: str) -> int:
        if service == LIVE:
            return _Response.SERVING
        if service not in self._services:
            return _Response.SERVICE_UNKNOWN
        return _Response.SERVING if self._ready else _Response.NOT_SERVING


async def follow(health: Health, checks: Mapping[str, Check], interval: float) -> None:
    """Ask all checks every `interval` seconds, for ever: ready while none fails.

    A check that has not answered after `interval` seconds, and at least one, has failed. What
    fails is logged when it begins to and when it is over.
    """
    failing: dict[str, str] = {}
    while True:
        asked = (_trouble(check, max(interval, 1.0)) for check in checks.values())
        troubles = dict(zip(checks, await asyncio.gather(*asked), strict=True))
        now = {name: trouble for name, trouble in troubles.items() if trouble}
        for name in now.keys() - failing.keys():
            _LOG.warning("not ready: %s: %s", name, now[name])
        for name in failing.keys() - now.keys():
            _LOG.info("ready again: %s", name)
        failing = now
        health.set_ready(not failing)
        await asyncio.sleep(interval)


async def _trouble(check: Check, seconds: float) -> str:
    """What is wrong; empty when nothing is."""
    try:
        async with asyncio.timeout(seconds):
            await check()
    except Exception as error:  # noqa: BLE001 - whatever a check raises means not ready
        return f"{type(error).__name__}: {error}"
    return ""
