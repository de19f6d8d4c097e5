"""An httpx2 transport over aiohttp, for huggingface_hub.

huggingface_hub speaks through httpx2, whose own transport holds 100 connections at most and
costs about three times the CPU of aiohttp at 256 calls in flight (`python -m bench
chat_rate` measures it). `set_async_client_factory` is the library's way to hand in another.
"""

from __future__ import annotations

import os
import ssl
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from json import dumps
from typing import Any

import aiohttp
import httpx2

LARGEST_BODY = 4 * 1024 * 1024
"""The most bytes a response may have, on the wire and unpacked: a hundred long replies."""
AS_IT_IS = "response_format as it is"
"""What stands under this name goes out as `response_format`: huggingface_hub makes TGI's form out
of every `json_schema`, whatever server the URL leads to.
"""
_AT_ONCE = 64 * 1024
_GZIP_OR_ZLIB = 47
"""The `wbits` with which zlib reads both."""
_JSON = ("Content-Type", "application/json")
_PACKED = {"Accept-Encoding": "gzip, deflate"}
_OF_THE_PACKING = (b"content-encoding", b"content-length")
_TRUST: ContextVar[ssl.SSLContext | None] = ContextVar("_TRUST", default=None)


class UntrustedServer(httpx2.ConnectError):
    """Who answers speaks no TLS, or has no certificate that is trusted."""


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends httpx2 requests through an aiohttp session. Bodies are read whole: no streaming.

    There is no limit of connections and no timeout: who calls is limited and holds a deadline.
    Neither proxies nor .netrc are taken from the environment. `trust` says which certificates
    are trusted over https, none that those of this machine are.
    """

    def __init__(self, trust: ssl.SSLContext | None = None) -> None:
        self._trust = trust
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response with its body. Raises httpx2.TransportError for every trouble on the way."""
        return await self.exchange(request, _other_headers(request), await request.aread())

    async def exchange(
        self, request: httpx2.Request, headers: Sequence[tuple[str, str]], content: bytes
    ) -> httpx2.Response:
        """Send those headers and that content by the method and to the URL of a request."""
        try:
            async with self._open_session().request(
                request.method,
                str(request.url),
                data=content,
                headers=[*headers, *_PACKED.items()],
                allow_redirects=False,
            ) as response:
                body = await _bounded_body(response, request)
        except TimeoutError as error:
            raise httpx2.ReadTimeout(_story(error), request=request) from error
        except aiohttp.ClientConnectorError as error:
            refused = _refusal(error.os_error)
            if refused:
                raise UntrustedServer(refused, request=request) from error
            raise httpx2.ConnectError(_story(error), request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ReadError(_story(error), request=request) from error
        told = [pair for pair in response.raw_headers if pair[0].lower() not in _OF_THE_PACKING]
        return httpx2.Response(response.status, headers=told, content=body, request=request)

    async def aclose(self) -> None:
        """Close the session and its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open_session(self) -> aiohttp.ClientSession:
        # Made here and not in __init__: a session belongs to the loop that runs its calls.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._trust or True),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                # Neither aiohttp nor httpx2 would stop unpacking at a limit.
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
            )
        return self._session


def _other_headers(request: httpx2.Request) -> list[tuple[str, str]]:
    """The headers, without those that name encodings which are not unpacked here."""
    named = request.headers.multi_items()
    return [pair for pair in named if pair[0].lower() != "accept-encoding"]


async def _bounded_body(response: aiohttp.ClientResponse, request: httpx2.Request) -> bytes:
    """The body, unpacked. Raises httpx2.ReadError once it is larger than any answer should be,
    and for one that cannot be unpacked.
    """
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise httpx2.ReadError(f"unexpected content encoding {encoding!r:.20}", request=request)
    packed = encoding not in {"", "identity"}
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    body = bytearray()
    try:
        async for piece in response.content.iter_any():
            rest = piece
            while rest:
                body += unpacker.decompress(rest, _AT_ONCE) if packed else rest
                rest = unpacker.unconsumed_tail
                if len(body) > LARGEST_BODY:
                    raise httpx2.ReadError(f"more than {LARGEST_BODY} bytes", request=request)
    except zlib.error as error:
        raise httpx2.ReadError("the body cannot be unpacked", request=request) from error
    if packed and body and not unpacker.eof:
        raise httpx2.ReadError("the packed body has no end", request=request)
    return bytes(body)


def _story(error: Exception) -> str:
    """What happened, without the host: messages end up beside verdicts."""
    number = getattr(error, "errno", None) or 0
    return os.strerror(number) if number > 0 else type(error).__name__


def _refusal(error: OSError) -> str:
    """Why there will be no TLS with an endpoint, in the words of OpenSSL; empty for what may pass:
    a connection that was cut in the middle of it, say.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    passing = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
    if isinstance(error, ssl.SSLError) and not isinstance(error, passing):
        return f"it does not speak TLS as we do: {error.reason}"
    return ""


class _Client(httpx2.AsyncClient):
    """Posts JSON on a shorter way: without merging URLs, headers, cookies and hooks that nobody
    sets, which would cost a quarter of a call.
    """

    def __init__(self, trust: ssl.SSLContext | None) -> None:
        self._sender = AiohttpTransport(trust)
        super().__init__(transport=self._sender, timeout=None, trust_env=False)

    async def post(  # type: ignore[override]  # what huggingface_hub uses of it
        self, url: str, *, json: Any = None, headers: Mapping[str, str | None], **others: Any
    ) -> httpx2.Response:
        """The response. Raises httpx2.TransportError for every trouble on the way."""
        asked = [(name, value) for name, value in headers.items() if value is not None]
        if json is None:
            return await super().post(url, headers=asked, **others)
        if AS_IT_IS in json:
            json = {**json, "response_format": json[AS_IT_IS]}
            del json[AS_IT_IS]
        body = dumps(json, ensure_ascii=False, separators=(",", ":")).encode()
        return await self._sender.exchange(_posted(url), [*asked, _JSON], body)


@lru_cache(maxsize=64)
def _posted(url: str) -> httpx2.Request:
    """What responses name as their request: neither token nor words are in it."""
    return httpx2.Request("POST", url)


def new_client(trust: ssl.SSLContext | None = None) -> httpx2.AsyncClient:
    """An httpx2 client over aiohttp that follows no redirects: they would carry the token.
    `trust` as for the transport.
    """
    return _Client(trust)


@contextmanager
def trusted(trust: ssl.SSLContext | None) -> Iterator[None]:
    """Clients that `client_of_the_library` makes meanwhile trust those certificates."""
    before = _TRUST.set(trust)
    try:
        yield
    finally:
        _TRUST.reset(before)


def client_of_the_library() -> httpx2.AsyncClient:
    """A client for huggingface_hub, whose factory is one for the whole process, is told nothing,
    and is asked in the middle of a client's first call.
    """
    return new_client(_TRUST.get())
