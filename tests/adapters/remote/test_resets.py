"""A proxy resets a quiet stream: to the client, the gateway is away and not broken."""

import asyncio
from contextlib import suppress

import pytest

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.errors import BackendUnavailable

# Types of frames, a flag, and the header block of a response that begins (RFC 9113, RFC 7541).
HEADERS, RESET, SETTINGS, ACKNOWLEDGED = 1, 3, 4, 1
BEGUN = b"\x88\x0f\x10\x10application/grpc"


def frame(kind: int, flags: int, stream: int, content: bytes = b"") -> bytes:
    return len(content).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + content


@pytest.mark.parametrize("reason", [0, 2, 7, 8], ids=["none", "internal", "refused", "cancel"])
async def test_a_reset_stream_is_a_gateway_that_is_away(reason: int) -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readexactly(24)
            writer.write(frame(SETTINGS, 0, 0))
            while head := await reader.readexactly(9):
                await reader.readexactly(int.from_bytes(head[:3]))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:])
                if kind == SETTINGS and not flags & ACKNOWLEDGED:
                    writer.write(frame(SETTINGS, ACKNOWLEDGED, 0))
                if kind == HEADERS:
                    writer.write(frame(HEADERS, 4, stream, BEGUN))
                    writer.write(frame(RESET, 0, stream, reason.to_bytes(4)))
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        closed.set()

    closed = asyncio.Event()
    async with await asyncio.start_server(reset, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        async with RemoteGateway(Target(f"{host}:{port}")) as gateway:
            with pytest.raises(BackendUnavailable):
                async for _ in gateway.watch("0" * 16, 1.0):
                    pass
        await closed.wait()
