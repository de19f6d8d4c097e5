"""The lifecycle of a service: it works and serves until stopped, then drains and exits."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from caliper.pipeline.work.worker import Worker, first_failure
from caliper.ports.storage import ObjectStore
from caliper.serving.grpc_server import GrpcServer, ServerOptions, Service
from caliper.serving.health import Check


class TopicWork:
    """Works on a topic while the service runs; `check` fails while its worker pauses."""

    def __init__(self, worker: Callable[[], Worker]) -> None:
        self._make = worker
        self._worker: Worker | None = None
        self._stopped = False

    async def run(self) -> None:
        """Work until `stop`, then finish the jobs in flight."""
        if not self._stopped:
            # A consumer belongs to the event loop in which it is created.
            self._worker = self._make()
            await self._worker.run()

    def stop(self) -> None:
        """Take no more jobs."""
        self._stopped = True
        if self._worker is not None:
            self._worker.stop()

    async def check(self) -> None:
        """Raise the error that has paused the work, if any."""
        if self._worker is not None and self._worker.trouble is not None:
            raise self._worker.trouble


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The parts of a service. When it stops, `workers` drains, `tasks` are cancelled, and `close`
    is called last.
    """

    services: tuple[Service, ...]
    workers: tuple[TopicWork, ...] = ()
    tasks: tuple[Callable[[], Awaitable[None]], ...] = ()
    checks: Mapping[str, Check] = field(default_factory=dict)
    close: tuple[Callable[[], Awaitable[None]], ...] = ()


def merge_parts(parts: Sequence[ServiceParts]) -> ServiceParts:
    """Merge several services into one, for one process and one port."""
    return ServiceParts(
        services=tuple(service for part in parts for service in part.services),
        workers=tuple(work for part in parts for work in part.workers),
        tasks=tuple(task for part in parts for task in part.tasks),
        checks={name: check for part in parts for name, check in part.checks.items()},
        close=tuple(close for part in parts for close in part.close),
    )


def store_check(store: ObjectStore) -> Check:
    """A check that the store answers."""

    async def check() -> None:
        await store.get("health")

    return check


class ServiceRun:
    """Runs a service until `stopping` is set or a part of it fails."""

    def __init__(self, options: ServerOptions, parts: ServiceParts) -> None:
        works = {f"work-{place}": work.check for place, work in enumerate(parts.workers)}
        self._options, self._parts = options, parts
        self.server = GrpcServer(options, parts.services, {**parts.checks, **works})
        self.stopping = asyncio.Event()
        self.started = asyncio.Event()

    async def run(self) -> None:
        """Serve until `stopping` is set. Raises InvalidInput when it cannot listen."""
        async with AsyncExitStack() as stack:
            for close in reversed(self._parts.close):
                stack.push_async_callback(close)
            await self.server.start()
            stack.push_async_callback(self.server.stop)
            self.started.set()
            await self._work()

    async def _work(self) -> None:
        jobs = [asyncio.ensure_future(work.run()) for work in self._parts.workers]
        lasting = [asyncio.ensure_future(task()) for task in self._parts.tasks]
        stopping = asyncio.ensure_future(self.stopping.wait())
        try:
            await asyncio.wait([stopping, *jobs, *lasting], return_when=asyncio.FIRST_COMPLETED)
            self.server.drain()
            for work in self._parts.workers:
                work.stop()
            if jobs:
                await asyncio.wait(jobs, timeout=self._options.grace)
        finally:
            await _cancel([stopping, *jobs, *lasting])


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


async def run_until_signal(running: Iterable[ServiceRun]) -> None:
    """Run services until SIGTERM or SIGINT. They start in this order and stop in reverse."""
    services = list(running)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)
    await run_all(services, stop)


async def run_all(services: Sequence[ServiceRun], stop: asyncio.Event) -> None:
    """Run services until `stop` is set or one of them fails. Raises its failure."""
    tasks: list[asyncio.Task[None]] = []
    stopping = asyncio.ensure_future(stop.wait())
    try:
        for service in services:
            tasks.append(asyncio.ensure_future(service.run()))
            starting = asyncio.ensure_future(service.started.wait())
            await asyncio.wait([starting, tasks[-1]], return_when=asyncio.FIRST_COMPLETED)
            starting.cancel()
        await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        for service, task in reversed(list(zip(services, tasks, strict=False))):
            service.stopping.set()
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
    for task in tasks:
        task.result()
