"""A Triton server whose machine vanishes: nobody closes the connection, and nothing comes back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.triton_calls import address_of

from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_tensors import bytes_input
from caliper.core.errors import BackendUnavailable

INPUTS = [bytes_input("image", [b""], [1, 1]), bytes_input("prompt", [b"What is it?"], [1, 1])]


class Link:
    """A TCP link to a server. Connections made before `silence` stay open, and pass nothing on."""

    def __init__(self, target: str) -> None:
        self._host, _, self._port = target.rpartition(":")
        self._silent, self._writers = asyncio.Event(), list[asyncio.StreamWriter]()

    def silence(self) -> None:
        self._silent.set()
        self._silent = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        silent = self._silent
        there, sink = await asyncio.open_connection(self._host, int(self._port))
        self._writers += writer, sink

        async def forward(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while data := await source.read(1 << 16):
                    if not silent.is_set():
                        sink.write(data)

        await asyncio.gather(forward(reader, sink), forward(there, writer))

    def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def linked(target: str) -> AsyncIterator[tuple[Link, str]]:
    link = Link(target)
    server = await asyncio.start_server(link.serve, "127.0.0.1", 0)
    try:
        yield link, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        link.close()
        await server.wait_closed()


async def test_a_connection_that_went_silent_is_given_up(triton: str) -> None:
    async with asyncio.timeout(PATIENCE), linked(triton) as (link, address):
        client = TritonClient(address_of(f"{address}/captioner"), None, 30.0, 3600, silence=3.0)
        await client.open()
        answered = await client.infer(INPUTS)
        link.silence()
        with pytest.raises(BackendUnavailable):
            await client.infer(INPUTS)
        # The server is there: a new connection reaches it.
        again = await client.infer(INPUTS)
        assert again.get_response() == answered.get_response()
        await client.close()
