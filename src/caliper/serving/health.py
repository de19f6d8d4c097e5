"""Standard gRPC health: readiness depends on what the service needs, liveness does not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from caliper.serving.calls import Context

_LOG = logging.getLogger(__name__)
# Seconds between two looks until the first success: a service joins its groups within a few.
_START = 1.0

LIVE = "live"
"""The service name for liveness checks: SERVING as long as the process answers.

Every other name (empty, or that of a service) checks readiness.
"""

Check = Callable[[], Awaitable[None]]
"""Returns if a dependency of the service is available, raises if not."""

_Response = health_pb2.HealthCheckResponse


class Health(health_pb2_grpc.HealthServicer):
    """The health of the services of one process, initially not ready.

    Not the class of grpcio-health-checking, because that forgets all watchers of a service when
    one of them leaves, and reports a draining process as dead.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._services = {"", *services}
        self._ready = False
        self._stopping = False
        self._changed = asyncio.Event()

    def add(self, service: str) -> None:
        """Add a service."""
        self._services.add(service)

    def set_ready(self, ready: bool) -> None:  # noqa: FBT001 - the only thing that it sets
        """Set readiness. Once shutting down, the services cannot become ready again."""
        if ready != self._ready and not (ready and self._stopping):
            self._ready = ready
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()

    def enter_graceful_shutdown(self) -> None:
        """Become not ready for good. The process stays live."""
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
        """The status of a service, now and after every change."""
        last = None
        while True:
            changed, status = self._changed, self._status(request.service)
            if status != last:
                yield _Response(status=status)
                last = status
            await changed.wait()

    def _status(self, service: str) -> int:
        if service == LIVE:
            return _Response.SERVING
        if service not in self._services:
            return _Response.SERVICE_UNKNOWN
        return _Response.SERVING if self._ready else _Response.NOT_SERVING


async def follow(health: Health, checks: Mapping[str, Check], interval: float) -> None:
    """Run all checks every `interval` seconds until cancelled, and set readiness: ready if none
    fails.

    Until the service was ready once, they run every second, if that is more often. A check fails if
    it takes longer than `interval` seconds, or 5 s if that is more: a busy machine is not an
    outage. The beginning and the end of each failure are logged.
    """
    failing: dict[str, str] = {}
    rest = min(interval, _START)
    while True:
        running = (_failure(check, max(interval, 5.0)) for check in checks.values())
        troubles = dict(zip(checks, await asyncio.gather(*running), strict=True))
        now = {name: trouble for name, trouble in troubles.items() if trouble}
        for name in now.keys() - failing.keys():
            _LOG.warning("not ready: %s: %s", name, now[name])
        for name in failing.keys() - now.keys():
            _LOG.info("ready again: %s", name)
        failing = now
        health.set_ready(not failing)
        if not failing:
            rest = interval
        await asyncio.sleep(rest)


async def _failure(check: Check, seconds: float) -> str:
    """The failure of a check as text; empty if it passes."""
    try:
        async with asyncio.timeout(seconds):
            await check()
    except Exception as error:  # noqa: BLE001 - whatever a check raises means not ready
        return f"{type(error).__name__}: {error}"
    return ""
