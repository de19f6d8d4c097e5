"""The transport below the tgi model: what it will not take from an endpoint."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable, Mapping

import httpx2
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from caliper.adapters.models.transport import LARGEST_BODY, REPLY, AiohttpTransport, hub_client


async def body_of(body: bytes, encoding: str = "") -> bytes:
    """What a client makes of a body that is said to be in that encoding."""

    async def answer(_: web.Request) -> web.Response:
        headers = {"Content-Encoding": encoding} if encoding else {}
        return web.Response(body=body, headers=headers)

    app = web.Application()
    app.router.add_get("/", answer)
    async with (
        TestServer(app) as server,
        httpx2.AsyncClient(transport=AiohttpTransport()) as client,
    ):
        return (await client.get(str(server.make_url("/")))).content


async def test_posts_carry_what_they_are_given_and_answers_name_no_secret() -> None:
    seen: list[tuple[Mapping[str, str], bytes]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.headers, await request.read()))
        return web.json_response({}, status=201)

    app = web.Application()
    app.router.add_post("/", answer)
    headers = {"authorization": "Bearer secret", "x-none": None}
    async with TestServer(app) as server, hub_client() as client:
        url = str(server.make_url("/"))
        found = await client.post(url, json={"text": "caf\u00e9"}, headers=headers)
        await client.post(url, data={"a": "b"}, headers=headers)
    assert (found.status_code, found.json()) == (201, {REPLY: {}})
    assert "secret" not in str(found.request.headers)
    (told, body), (_, form) = seen
    assert body == '{"text":"caf\u00e9"}'.encode()
    assert form == b"a=b"
    assert told["Content-Type"] == "application/json"
    assert told["authorization"] == "Bearer secret"
    assert "x-none" not in told


async def test_a_body_of_the_largest_size_is_read_whole() -> None:
    assert len(await body_of(bytes(LARGEST_BODY))) == LARGEST_BODY


async def test_a_body_without_an_end_is_not_read_to_it() -> None:
    with pytest.raises(httpx2.ReadError, match=str(LARGEST_BODY)):
        await body_of(bytes(LARGEST_BODY + 1))


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("", bytes),
        ("identity", bytes),
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
    ],
)
async def test_packed_bodies_are_unpacked(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    assert await body_of(pack(b"caption" * 1000), encoding) == b"caption" * 1000


async def test_a_packed_body_is_bounded_by_what_is_in_it() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(256)) + packer.flush()
    assert len(bomb) < 2**20
    tracemalloc.start()
    with pytest.raises(httpx2.ReadError, match=str(LARGEST_BODY)):
        await body_of(bomb, "gzip")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 * LARGEST_BODY


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"no gzip"),
        ("gzip", gzip.compress(b"caption" * 1000, mtime=0)[:-9]),
        ("br", b"anything"),
        ("gzip, gzip", gzip.compress(b"caption", mtime=0)),
    ],
    ids=["no gzip", "cut", "br", "twice"],
)
async def test_what_cannot_be_unpacked_is_an_error(encoding: str, body: bytes) -> None:
    with pytest.raises(httpx2.ReadError):
        await body_of(body, encoding)


async def test_only_what_can_be_unpacked_is_asked_for() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(request.headers.getall("Accept-Encoding"))

    app = web.Application()
    app.router.add_get("/", answer)
    async with (
        TestServer(app) as server,
        httpx2.AsyncClient(transport=AiohttpTransport()) as client,
    ):
        assert (await client.get(str(server.make_url("/")))).json() == ["gzip, deflate"]
