"""The readiness of a service, as a health watcher sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.servers.process import STARTS_WITHIN

_SERVING = health_pb2.HealthCheckResponse.SERVING


class Readiness:
    """`told` holds every change, starting with the initial state."""

    def __init__(self, port: int) -> None:
        self._target = f"127.0.0.1:{port}"
        self._changed = asyncio.Condition()
        self.told: list[bool] = []

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
        with suppress(asyncio.CancelledError):
            await self._watching

    async def until(self, ready: bool) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.told and self.told[-1] == ready)

    async def _watch(self) -> None:
        async with grpc.aio.insecure_channel(self._target) as channel:
            # Its types lack the methods.
            stub: Any = health_pb2_grpc.HealthStub(channel)
            async for response in stub.Watch(health_pb2.HealthCheckRequest()):
                async with self._changed:
                    self.told.append(response.status == _SERVING)
                    self._changed.notify_all()


async def ready(services: Mapping[str, Readiness]) -> None:
    """Wait until all services are ready. Raises TimeoutError if that takes too long."""
    async with asyncio.timeout(STARTS_WITHIN):
        for each in services.values():
            await each.until(True)


def flapped(services: Mapping[str, Readiness]) -> dict[str, list[bool]]:
    """All changes of services that became unready and did not recover exactly once."""
    return {name: each.told for name, each in services.items() if each.told != [True, False, True]}
