"""The transport below the tgi model: what it will not take from an endpoint."""

import httpx2
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from caliper.adapters.models.transport import LARGEST_BODY, AiohttpTransport


async def body_of(size: int) -> int:
    """The size that a client gets of a body of `size` bytes."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=bytes(size))

    app = web.Application()
    app.router.add_get("/", answer)
    async with (
        TestServer(app) as server,
        httpx2.AsyncClient(transport=AiohttpTransport()) as client,
    ):
        return len((await client.get(str(server.make_url("/")))).content)


async def test_a_body_of_the_largest_size_is_read_whole() -> None:
    assert await body_of(LARGEST_BODY) == LARGEST_BODY


async def test_a_body_without_an_end_is_not_read_to_it() -> None:
    with pytest.raises(httpx2.ReadError, match=str(LARGEST_BODY)):
        await body_of(LARGEST_BODY + 1)
