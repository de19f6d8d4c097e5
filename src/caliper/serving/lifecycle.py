"""The life of a service: it works and serves until it is told to stop, then drains and leaves."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

from caliper.pipeline.work.worker import GiveUp, Handle, Worker, WorkerLimits, first_failure
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore
from caliper.ports.stream import Consumer
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.grpc_server import GrpcServer, ServerOptions, Service
from caliper.serving.health import Check

_PATIENCE = 1.0


class TopicWork:
    """Works on one topic for as long as the service lives, and pauses while store or stream are
    down. `check` fails while that is so.
    """

    def __init__(
        self,
        consumer: Callable[[], Consumer],
        handlers: tuple[Handle, GiveUp],
        clock: Clock,
        limits: WorkerLimits,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._consumer, self._clock, self._telemetry = consumer, clock, telemetry
        self._handlers, self._limits = handlers, replace(limits, pause=_PATIENCE)
        self._worker: Worker | None = None
        self._stopped = False

    async def run(self) -> None:
        """Work until `stop`, and until what was in flight then is done."""
        if not self._stopped:
            # A consumer belongs to the event loop that it is made in.
            self._worker = Worker(
                self._consumer(), *self._handlers, self._clock, self._limits, self._telemetry
            )
            await self._worker.run()

    def stop(self) -> None:
        """Take no more jobs."""
        self._stopped = True
        if self._worker is not None:
            self._worker.stop()

    async def check(self) -> None:
        """Raises what keeps the work from going on."""
        if self._worker is not None and self._worker.trouble is not None:
            raise self._worker.trouble


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """What a service is made of: `working` drains when it stops, `tasks` are cancelled then,
    `close` is called at the very end.
    """

    services: tuple[Service, ...]
    working: tuple[TopicWork, ...] = ()
    tasks: tuple[Callable[[], Awaitable[None]], ...] = ()
    checks: Mapping[str, Check] | None = None
    close: tuple[Callable[[], Awaitable[None]], ...] = ()


def together(parts: Sequence[ServiceParts]) -> ServiceParts:
    """Several services as one, for one process and one port."""
    checks: dict[str, Check] = {}
    for one in parts:
        checks |= one.checks or {}
    return ServiceParts(
        services=tuple(service for one in parts for service in one.services),
        working=tuple(working for one in parts for working in one.working),
        tasks=tuple(task for one in parts for task in one.tasks),
        checks=checks,
        close=tuple(close for one in parts for close in one.close),
    )


def store_check(store: ObjectStore) -> Check:
    """Whether the store answers."""

    async def check() -> None:
        await store.get("health")

    return check


class ServiceRun:
    """Serves and works. `stopping` ends it; so does a failure that nobody has a row for."""

    def __init__(self, options: ServerOptions, parts: ServiceParts) -> None:
        checks = dict(parts.checks or {})
        checks |= {f"work-{place}": one.check for place, one in enumerate(parts.working)}
        self._options, self._parts = options, parts
        self.server = GrpcServer(options, parts.services, checks)
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
        jobs = [asyncio.ensure_future(one.run()) for one in self._parts.working]
        lasting = [asyncio.ensure_future(task()) for task in self._parts.tasks]
        told = asyncio.ensure_future(self.stopping.wait())
        try:
            await asyncio.wait([told, *jobs, *lasting], return_when=asyncio.FIRST_COMPLETED)
            self.server.drain()
            for one in self._parts.working:
                one.stop()
            if jobs:
                await asyncio.wait(jobs, timeout=self._options.grace)
        finally:
            await _end([told, *jobs, *lasting])


async def _end(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Cancel what still runs. Raises the first failure of what ended by itself."""
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    for failure in ended:
        if isinstance(failure, BaseExceptionGroup):
            raise first_failure(failure)
        if isinstance(failure, Exception):
            raise failure


async def until_told(running: Iterable[ServiceRun]) -> None:
    """Run services, in this order, until SIGTERM or SIGINT; they stop in the opposite one."""
    everything = list(running)
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    await run_all(everything, told)


async def run_all(everything: Sequence[ServiceRun], told: asyncio.Event) -> None:
    """Run services until `told` is set or one of them fails. Raises its failure."""
    tasks: list[asyncio.Task[None]] = []
    waiting = asyncio.ensure_future(told.wait())
    try:
        for one in everything:
            tasks.append(asyncio.ensure_future(one.run()))
            starting = asyncio.ensure_future(one.started.wait())
            await asyncio.wait([starting, tasks[-1]], return_when=asyncio.FIRST_COMPLETED)
            starting.cancel()
        await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        for one, task in reversed(list(zip(everything, tasks, strict=False))):
            one.stopping.set()
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
    for task in tasks:
        task.result()
