"""All services in one process, with memory and a directory, called over real gRPC."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.local.config import RunConfig
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.pipeline.store.run_record import Evaluation
from caliper.ports.watcher import Watcher
from caliper.serving.addresses import Address
from caliper.serving.grpc_server import ServerOptions
from caliper.serving.lifecycle import ServiceParts, ServiceRun
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import Ground
from caliper.wiring.models import Access
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services


@asynccontextmanager
async def listening(parts: ServiceParts, tokens: Path | None = None) -> AsyncIterator[str]:
    """Serve services of one process on loopback; yields their address."""
    running = ServiceRun(ServerOptions(Address("127.0.0.1", 0), tokens=tokens, grace=5), parts)
    task = asyncio.create_task(running.run())
    starting = asyncio.create_task(running.started.wait())
    await asyncio.wait([task, starting], return_when=asyncio.FIRST_COMPLETED)
    starting.cancel()
    try:
        if running.started.is_set():
            yield str(running.server.address)
    finally:
        running.stopping.set()
        await task


@asynccontextmanager
async def installation(
    ground: Ground,
    judge: JudgeSettings | None = None,
    reader: QaReaderSettings | None = None,
    captioner: CaptionerSettings | None = None,
    caller: tuple[Path, SecretStr] | None = None,
) -> AsyncIterator[RemoteGateway]:
    """The gateway of an installation. Without settings, judge and reader are lexical and nobody
    captions. `caller` is a token file, and the token of who calls the gateway.
    """
    tokens, token = caller or (None, None)
    parts = await all_services(
        ground, judge or JudgeSettings(), reader or QaReaderSettings(), captioner
    )
    async with (
        listening(parts, tokens) as address,
        RemoteGateway(Target(address, token)) as gateway,
    ):
        yield gateway


async def over(gateway: RemoteGateway, run: str) -> Evaluation:
    last = None
    async for found in gateway.watch(run, 1.0):
        last = found
    assert last is not None
    return last


async def alone(config: RunConfig, watcher: Watcher, folder: Path) -> bytes:
    """report.json of the same run in one process without services."""
    clock = SystemClock()
    chosen = config.model_copy(update={"out": folder / "alone", "store": folder / "alone-store"})
    async with prepare(chosen, Access(), clock) as prepared:
        finished = await evaluate(prepared, watcher, clock)
    return (finished.directory / "report.json").read_bytes()
