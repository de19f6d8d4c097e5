"""The lifecycle of a service: it works and serves until stopped, then drains and exits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import first_failure
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.grpc_server import GrpcServer, ServerOptions, Service
from caliper.serving.health import Check


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The parts of a service. When it stops, `workers` drains, `tasks` are cancelled, and `close`
    is called last. `later` opens further parts, while the service is live and not ready.
    `telemetry` counts refused calls.
    """

    services: tuple[Service, ...]
    workers: tuple[Stage, ...] = ()
    tasks: tuple[Callable[[], Awaitable[None]], ...] = ()
    checks: Mapping[str, Check] = field(default_factory=dict)
    close: tuple[Callable[[], Awaitable[None]], ...] = ()
    later: tuple[Callable[[], Awaitable[ServiceParts]], ...] = ()
    telemetry: Telemetry = SILENT


def merge_parts(parts: Sequence[ServiceParts]) -> ServiceParts:
    """Merge several services into one, for one process and one port."""
    return ServiceParts(
        services=tuple(service for part in parts for service in part.services),
        workers=tuple(work for part in parts for work in part.workers),
        tasks=tuple(task for part in parts for task in part.tasks),
        checks={name: check for part in parts for name, check in part.checks.items()},
        close=tuple(close for part in parts for close in part.close),
        later=tuple(later for part in parts for later in part.later),
        telemetry=next((part.telemetry for part in parts if part.telemetry is not SILENT), SILENT),
    )


def store_check(store: ObjectStore) -> Check:
    """A check that the store answers."""

    async def check() -> None:
        await store.get("health")

    return check


class ServiceRun:
    """Runs a service until `stopping` is set or a part of it fails. It answers health checks once
    `probed`, and everything once `started`.
    """

    def __init__(self, options: ServerOptions, parts: ServiceParts) -> None:
        self._options, self._parts = options, parts
        self.server = GrpcServer(options, (), {}, parts.telemetry)
        self.stopping = asyncio.Event()
        self.probed, self.started = asyncio.Event(), asyncio.Event()
        self._workers: list[Stage] = []

    async def run(self) -> None:
        """Serve until `stopping` is set. Raises InvalidInput when it cannot listen, and what
        opening later parts raises.
        """
        async with AsyncExitStack() as closing, AsyncExitStack() as serving:
            lasting = self._begin(self._parts, closing)
            serving.push_async_callback(self.server.stop)
            opening = asyncio.ensure_future(self._open(closing))
            stopping = asyncio.ensure_future(self.stopping.wait())
            jobs: list[asyncio.Future[Any]] = []
            try:
                await self.server.start_health()
                self.probed.set()
                await _first_of([stopping, opening, *lasting])
                if opening.done():
                    lasting += opening.result()
                    await self.server.start()
                    jobs = [asyncio.ensure_future(work.run()) for work in self._workers]
                    self.started.set()
                    await _first_of([stopping, *jobs, *lasting])
                self.server.drain()
                for work in self._workers:
                    work.stop()
                if jobs:
                    await asyncio.wait(jobs, timeout=self._options.grace)
            finally:
                await _cancel([stopping, opening, *jobs, *lasting])

    async def _open(self, closing: AsyncExitStack) -> list[asyncio.Future[Any]]:
        """Open the later parts. Returns their tasks."""
        lasting: list[asyncio.Future[Any]] = []
        for later in self._parts.later:
            lasting += self._begin(await later(), closing)
        return lasting

    def _begin(self, parts: ServiceParts, closing: AsyncExitStack) -> list[asyncio.Future[Any]]:
        """Begin the tasks of parts, and add the rest to what is served once started."""
        for close in reversed(parts.close):
            closing.push_async_callback(close)
        works = enumerate(parts.workers, start=len(self._workers))
        checks = {f"work-{place}": work.check for place, work in works}
        self._workers += parts.workers
        self.server.add(parts.services, {**parts.checks, **checks})
        return [asyncio.ensure_future(task()) for task in parts.tasks]


async def _first_of(tasks: Sequence[asyncio.Future[Any]]) -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


async def _cancel(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Cancel the tasks that still run. Raises the first failure of those that ended."""
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for failure in results:
        if isinstance(failure, BaseExceptionGroup):
            raise first_failure(failure)
        if isinstance(failure, Exception):
            raise failure
