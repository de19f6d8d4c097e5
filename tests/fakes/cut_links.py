"""A TCP link to a server that breaks once so many bytes went through it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class CutLink:
    """Each connection breaks after the next number of bytes in `cuts`, when the server has `read`
    some of them; later ones do not. The next is made when the server has `noticed` that. `sent` has
    the bytes that each sent to the server.
    """

    def __init__(self, target: str, *cuts: int) -> None:
        self._target, self._cuts = target, list(cuts)
        self.read, self.noticed = asyncio.Event(), asyncio.Event()
        self.noticed.set()
        self.sent: list[int] = []
        self.address = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.noticed.wait()
        # What the server read of an earlier connection does not count.
        self.read.clear()
        host, _, port = self._target.rpartition(":")
        there = await asyncio.open_connection(host, int(port))
        number, cut = len(self.sent), self._cuts.pop(0) if self._cuts else None
        self.sent.append(0)

        async def forward(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(1 << 16):
                if source is reader:
                    self.sent[number] += len(data)
                    if cut is not None and self.sent[number] > cut:
                        await self.read.wait()
                        self.read.clear()
                        self.noticed.clear()
                        break
                sink.write(data)
                await sink.drain()

        ways = [forward(reader, there[1]), forward(there[0], writer)]
        tasks = [asyncio.create_task(way) for way in ways]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for each in (there[1], writer):
            each.transport.abort()


@asynccontextmanager
async def cut_link(target: str, *cuts: int) -> AsyncIterator[CutLink]:
    link = CutLink(target, *cuts)
    server = await asyncio.start_server(link.serve, "127.0.0.1", 0)
    link.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield link
    finally:
        server.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(server.wait_closed(), 5)
