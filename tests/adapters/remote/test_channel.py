"""Connections without a word: nothing but asking tells whether the other end stands still."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.fakes.clock import PATIENCE

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.remote.stages import RemoteScores
from caliper.core.errors import BackendUnavailable

# Has no news of any run, and says where it is and who listens.
SERVER = """
import asyncio
from caliper.serving import aggregator, gateway
from caliper.serving.addresses import Address
from caliper.serving.grpc_server import GrpcServer, ServerOptions, Service

async def nothing(self, request, context):
    print("listened to", flush=True)
    await asyncio.Event().wait()
    yield

class Still:
    WatchEvaluation = WatchScores = nothing

services = (
    Service(gateway.GatewayServicer.contract, Still()),
    Service(aggregator.AggregatorServicer.contract, Still()),
)

async def main():
    server = GrpcServer(ServerOptions(Address("127.0.0.1", 0)), services, {})
    await server.start()
    print(server.address, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Process, str]]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVER, stdout=PIPE)
    try:
        yield process, await said(process)
    finally:
        process.kill()
        await process.wait()


async def said(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def ended(process: Process, listening: asyncio.Future[object]) -> str:
    """What a listener hears when the process that it listens to stands still."""
    assert await said(process) == "listened to"
    os.kill(process.pid, signal.SIGSTOP)
    with pytest.raises(BackendUnavailable) as caught:
        await listening
    return str(caught.value)


async def test_watching_a_gateway_that_stands_still_ends() -> None:
    async with (
        asyncio.timeout(PATIENCE),
        serving() as (process, address),
        RemoteGateway(Target(address, silence=0.5)) as gateway,
    ):
        listening = asyncio.ensure_future(anext(gateway.watch("run", 1.0)))
        assert (await ended(process, listening)).startswith(f"{address}: ")


async def test_listening_to_an_aggregator_that_stands_still_ends() -> None:
    async with asyncio.timeout(PATIENCE), serving() as (process, address):
        scores = RemoteScores(Target(address, silence=0.5))
        listening = asyncio.ensure_future(anext(scores.watch("run", 1.0)))
        assert (await ended(process, listening)).startswith(f"{address}: ")
        await scores.close()


async def test_a_service_without_news_is_listened_to() -> None:
    async with (
        asyncio.timeout(PATIENCE),
        serving() as (process, address),
        RemoteGateway(Target(address, silence=3.0)) as gateway,
    ):
        listening = asyncio.ensure_future(anext(gateway.watch("run", 1.0)))
        assert await said(process) == "listened to"
        # A server that does not permit it ends the connection when it is asked for the fifth time.
        # Each time it has a second to answer.
        assert await asyncio.wait({listening}, timeout=16.5) == (set(), {listening})
        listening.cancel()
        await asyncio.wait({listening})
