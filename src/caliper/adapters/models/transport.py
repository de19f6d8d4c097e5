"""An httpx2 transport over aiohttp, for huggingface_hub.

huggingface_hub speaks through httpx2, whose own transport holds 100 connections at most and
costs about three times the CPU of aiohttp at 256 calls in flight (`python -m bench
chat_rate` measures it). `set_async_client_factory` is the library's way to hand in another.
"""

from __future__ import annotations

import os
import zlib

import aiohttp
import httpx2

LARGEST_BODY = 4 * 1024 * 1024
"""The most bytes a response may have, on the wire and unpacked: a hundred long replies."""
_AT_ONCE = 64 * 1024
_GZIP_OR_ZLIB = 47
"""The `wbits` with which zlib reads both."""
_PACKED = {"Accept-Encoding": "gzip, deflate"}
_OF_THE_PACKING = (b"content-encoding", b"content-length")


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends httpx2 requests through an aiohttp session. Bodies are read whole: no streaming.

    There is no limit of connections and no timeout: who calls is limited and holds a deadline.
    Neither proxies nor .netrc are taken from the environment.
    """

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response with its body. Raises httpx2.TransportError for every trouble on the way."""
        try:
            async with self._open_session().request(
                request.method,
                str(request.url),
                data=await request.aread(),
                headers=[*_other_headers(request), *_PACKED.items()],
                allow_redirects=False,
            ) as response:
                body = await _bounded_body(response, request)
        except TimeoutError as error:
            raise httpx2.ReadTimeout(_story(error), request=request) from error
        except aiohttp.ClientConnectorError as error:
            raise httpx2.ConnectError(_story(error), request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ReadError(_story(error), request=request) from error
        headers = [pair for pair in response.raw_headers if pair[0].lower() not in _OF_THE_PACKING]
        return httpx2.Response(response.status, headers=headers, content=body)

    async def aclose(self) -> None:
        """Close the session and its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open_session(self) -> aiohttp.ClientSession:
        # Made here and not in __init__: a session belongs to the loop that runs its calls.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
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


def new_client() -> httpx2.AsyncClient:
    """An httpx2 client over aiohttp that follows no redirects: they would carry the token."""
    return httpx2.AsyncClient(transport=AiohttpTransport(), timeout=None, trust_env=False)
