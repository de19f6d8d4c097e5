import asyncio
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest
from aiohttp import web

from caliper.core.errors import (
    BackendUnavailable,
    InvalidInput,
    NotFound,
    NotReady,
    StoreUnavailable,
)
from caliper.serving.addresses import Address
from caliper.serving.web import WebServer

RAISED: dict[str, Exception] = {
    "input": InvalidInput("no such token", file="/secret/place/file.json", field="token"),
    "nobody": NotFound("no run 1"),
    "early": NotReady("not planned yet"),
    "away": StoreUnavailable("store is away"),
    "backend": BackendUnavailable("aggregator is away"),
    "defect": KeyError("secret"),
}
STATUS = {"input": 400, "nobody": 404, "early": 409, "away": 503, "backend": 503, "defect": 500}


async def hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


def raising(error: Exception) -> Callable[[web.Request], web.Response]:
    async def page(_: web.Request) -> web.Response:
        raise error

    return page  # type: ignore[return-value]


def trouble(status: int, message: str) -> web.Response:
    return web.Response(status=status, text=f"<{message}>")


@pytest.fixture
async def address() -> AsyncIterator[str]:
    routes = [web.get("/", hello)]
    routes += [web.get(f"/{name}", raising(error)) for name, error in RAISED.items()]
    server = WebServer(Address("127.0.0.1", 0), routes, trouble)
    running = asyncio.create_task(server.run())
    await server.started.wait()
    yield f"http://{server.address}"
    running.cancel()
    await asyncio.wait([running])


async def get(url: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, headers=given) as answer,
    ):
        return answer.status, await answer.text(), dict(answer.headers)


async def test_answers_are_for_this_page_alone(address: str) -> None:
    status, text, headers = await get(address)
    assert (status, text) == (200, "hello")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Server"] == "caliper"
    assert (await get(address, "HEAD"))[:2] == (200, "")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:9000", 200),
        ("127.0.0.1:9000", 200),
        ("[::1]:9000", 200),
        ("evil.example", 403),
        ("localhost.evil.example:80", 403),
        ("127.0.0.1.evil.example", 403),
        ("10.0.0.1", 403),
        ("[::1", 403),
        (":80", 403),
    ],
)
async def test_only_this_machine_is_called_by_name(address: str, host: str, status: int) -> None:
    assert (await get(address, Host=host))[0] == status


async def test_other_pages_may_link_here_and_no_more(address: str) -> None:
    loaded = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}
    assert (await get(address, **loaded))[0] == 403
    followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert (await get(address, **followed))[0] == 200
    own = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "no-cors"}
    assert (await get(address, **own))[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_nothing_can_be_changed(address: str, method: str) -> None:
    status, text, headers = await get(address, method)
    assert (status, text) == (405, "<These pages are read-only.>")
    assert headers["Allow"] == "GET,HEAD"


async def test_what_is_not_there(address: str) -> None:
    status, text, headers = await get(f"{address}/elsewhere")
    assert (status, text) == (404, "<There is no such page.>")
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "line",
    [
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1",
        "GET /\N{SNOWMAN} HTTP/1.1".encode(),
        b"GET / HTTP/9.9",
        b"\x16\x03\x01 not HTTP at all",
    ],
    ids=["long", "not ASCII", "another version", "no HTTP"],
)
async def test_what_is_no_request_is_refused_without_a_word_in_the_log(
    address: str, line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(line + b"\r\nHost: localhost\r\n\r\n")
    assert b" 400 " in await reader.readline()
    await reader.read()
    writer.close()
    assert caplog.text == ""


@pytest.mark.parametrize("name", RAISED)
async def test_failures_are_told_by_their_table(address: str, name: str) -> None:
    status, text, _ = await get(f"{address}/{name}")
    assert status == STATUS[name]
    assert "secret" not in text
    assert (str(RAISED[name]) in text) == (name not in ("defect", "input"))


async def test_an_address_that_is_taken(address: str) -> None:
    taken = Address.parse(address.removeprefix("http://"))
    with pytest.raises(InvalidInput, match="page_address: cannot listen"):
        await WebServer(taken, (), trouble).run()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "machine.example"])  # noqa: S104
def test_no_address_that_others_can_reach(host: str) -> None:
    with pytest.raises(InvalidInput, match="other machines must not reach"):
        WebServer(Address(host, 80), (), trouble)


async def test_the_name_of_this_machine_is_one_port() -> None:
    server = WebServer(Address("localhost", 0), [web.get("/", hello)], trouble)
    running = asyncio.create_task(server.run())
    await server.started.wait()
    assert (await get(f"http://{server.address}"))[0] == 200
    running.cancel()
    await asyncio.wait([running])
