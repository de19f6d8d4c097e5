"""An httpx2 transport over aiohttp, for huggingface_hub.

huggingface_hub uses httpx2, whose own transport holds at most 100 connections and costs about
three times the CPU of aiohttp at 256 calls in flight (`python -m bench chat_rate` measures
it). The library takes another client through `set_async_client_factory`.
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
"""The maximum size of a response in bytes, on the wire and unpacked: a hundred long replies."""
RESPONSE_FORMAT = "response_format as it is"
"""The value under this key is sent as `response_format`. huggingface_hub rewrites every
`json_schema` in TGI's form, whatever the server is.
"""
REPLY = "reply"
"""The key of the reply in what huggingface_hub returns. It keeps an unknown key as it is; to fill
its classes would take as long as sending the request.
"""
_CHUNK_BYTES = 64 * 1024
_GZIP_OR_ZLIB = 47
"""The `wbits` for which zlib reads both formats."""
_JSON = ("Content-Type", "application/json")
_ACCEPT_ENCODING = {"Accept-Encoding": "gzip, deflate"}
_ENCODING_HEADERS = (b"content-encoding", b"content-length")
_TRUST: ContextVar[ssl.SSLContext | None] = ContextVar("_TRUST", default=None)


class UntrustedServer(httpx2.ConnectError):
    """The server does not speak TLS, or its certificate is not trusted."""


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends httpx2 requests through an aiohttp session. Bodies are read whole: no streaming.

    There is no connection limit and no timeout: callers have both. Proxies and .netrc of the
    environment are ignored. `trust` defines the certificates to trust over https; None means
    those of this machine.
    """

    def __init__(self, trust: ssl.SSLContext | None = None) -> None:
        self._trust = trust
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response with its body. Raises httpx2.TransportError for every network failure."""
        return await self.exchange(request, _other_headers(request), await request.aread())

    async def exchange(
        self,
        request: httpx2.Request,
        headers: Sequence[tuple[str, str]],
        content: bytes,
        *,
        wrapped: bool = False,
    ) -> httpx2.Response:
        """Send `headers` and `content` with the method and URL of `request`. If `wrapped`, the body
        of a success is a JSON object with the received one under the key `REPLY`.
        """
        try:
            async with self._open_session().request(
                request.method,
                str(request.url),
                data=content,
                headers=[*headers, *_ACCEPT_ENCODING.items()],
                allow_redirects=False,
            ) as response:
                body = await _bounded_body(response, request)
        except TimeoutError as error:
            raise httpx2.ReadTimeout(_story(error), request=request) from error
        except aiohttp.ClientConnectorError as error:
            refusal = _refusal(error.os_error)
            if refusal:
                raise UntrustedServer(refusal, request=request) from error
            raise httpx2.ConnectError(_story(error), request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ReadError(_story(error), request=request) from error
        if wrapped and response.ok:
            body = b'{"%s":%s}' % (REPLY.encode(), body)
            return httpx2.Response(response.status, content=body, request=request)
        response_headers = [
            pair for pair in response.raw_headers if pair[0].lower() not in _ENCODING_HEADERS
        ]
        return httpx2.Response(
            response.status, headers=response_headers, content=body, request=request
        )

    async def aclose(self) -> None:
        """Close the session and its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open_session(self) -> aiohttp.ClientSession:
        # Not in __init__: a session belongs to the event loop that runs its calls.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._trust or True),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                # Neither aiohttp nor httpx2 limits the unpacked size.
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
            )
        return self._session


def _other_headers(request: httpx2.Request) -> list[tuple[str, str]]:
    """The headers except Accept-Encoding, which may name encodings that are not unpacked here."""
    pairs = request.headers.multi_items()
    return [pair for pair in pairs if pair[0].lower() != "accept-encoding"]


async def _bounded_body(response: aiohttp.ClientResponse, request: httpx2.Request) -> bytes:
    """The unpacked body. Raises httpx2.ReadError if it exceeds LARGEST_BODY or is corrupt."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise httpx2.ReadError(f"unexpected content encoding {encoding!r:.20}", request=request)
    packed, length = encoding not in {"", "identity"}, response.content_length
    if not packed and length is not None and length <= LARGEST_BODY:
        return await response.read()
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    body = bytearray()
    try:
        async for piece in response.content.iter_any():
            rest = piece
            while rest:
                body += unpacker.decompress(rest, _CHUNK_BYTES) if packed else rest
                rest = unpacker.unconsumed_tail
                if len(body) > LARGEST_BODY:
                    raise httpx2.ReadError(f"more than {LARGEST_BODY} bytes", request=request)
    except zlib.error as error:
        raise httpx2.ReadError("the body cannot be unpacked", request=request) from error
    if packed and body and not unpacker.eof:
        raise httpx2.ReadError("the packed body has no end", request=request)
    return bytes(body)


def _story(error: Exception) -> str:
    """The failure without the host: messages are stored with verdicts."""
    number = getattr(error, "errno", None) or 0
    return os.strerror(number) if number > 0 else type(error).__name__


def _refusal(error: OSError) -> str:
    """Why TLS with an endpoint fails for good, in OpenSSL's words.

    Empty for transient failures, such as a connection that was cut during the handshake.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    transient = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
    if isinstance(error, ssl.SSLError) and not isinstance(error, transient):
        return f"it does not speak TLS as we do: {error.reason}"
    return ""


class _Client(httpx2.AsyncClient):
    """Posts JSON directly, without merging URLs, headers, cookies and hooks that nobody sets:
    merging would cost a quarter of a call.
    """

    def __init__(self, trust: ssl.SSLContext | None) -> None:
        self._aiohttp = AiohttpTransport(trust)
        super().__init__(transport=self._aiohttp, timeout=None, trust_env=False)

    async def post(  # type: ignore[override]  # only what huggingface_hub uses
        self, url: str, *, json: Any = None, headers: Mapping[str, str | None], **others: Any
    ) -> httpx2.Response:
        """The response. Raises httpx2.TransportError for every network failure."""
        pairs = [(name, value) for name, value in headers.items() if value is not None]
        if json is None:
            return await super().post(url, headers=pairs, **others)
        if RESPONSE_FORMAT in json:
            json = {**json, "response_format": json[RESPONSE_FORMAT]}
            del json[RESPONSE_FORMAT]
        body = dumps(json, ensure_ascii=False, separators=(",", ":")).encode()
        request = _post_request(url)
        return await self._aiohttp.exchange(request, [*pairs, _JSON], body, wrapped=True)


@lru_cache(maxsize=64)
def _post_request(url: str) -> httpx2.Request:
    """The request that responses refer to; it contains neither token nor text."""
    return httpx2.Request("POST", url)


@contextmanager
def use_trust(trust: ssl.SSLContext | None) -> Iterator[None]:
    """Make `hub_client` trust those certificates within the context."""
    token = _TRUST.set(trust)
    try:
        yield
    finally:
        _TRUST.reset(token)


def hub_client() -> httpx2.AsyncClient:
    """The client factory for huggingface_hub: no client follows redirects, which would carry the
    token.

    It is global to the process, takes no arguments, and runs during a client's first call.
    """
    return _Client(_TRUST.get())
