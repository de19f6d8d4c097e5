"""An httpx2 transport over aiohttp, for huggingface_hub.

huggingface_hub speaks through httpx2, whose own transport holds 100 connections at most and
costs about three times the CPU of aiohttp at 256 calls in flight (`python -m bench
chat_rate` measures it). `set_async_client_factory` is the library's way to hand in another.
"""

from __future__ import annotations

import os

import aiohttp
import httpx2

LARGEST_BODY = 32 * 1024 * 1024
"""The most bytes a response may have, as they come over the wire: a thousand long replies."""


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends httpx2 requests through an aiohttp session. Bodies are read whole: no streaming.

    There is no limit of connections and no timeout: who calls holds a slot and a deadline.
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
                headers=request.headers.multi_items(),
                allow_redirects=False,
            ) as response:
                body = await _bounded_body(response, request)
        except TimeoutError as error:
            raise httpx2.ReadTimeout(_story(error), request=request) from error
        except aiohttp.ClientConnectorError as error:
            raise httpx2.ConnectError(_story(error), request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ReadError(_story(error), request=request) from error
        return httpx2.Response(response.status, headers=response.raw_headers, content=body)

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
                # httpx2 undoes the content encoding, as its response's headers still name it.
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
            )
        return self._session


async def _bounded_body(response: aiohttp.ClientResponse, request: httpx2.Request) -> bytes:
    """The body. Raises httpx2.ReadError once it is larger than any answer should be."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > LARGEST_BODY:
            raise httpx2.ReadError(f"more than {LARGEST_BODY} bytes", request=request)
    return bytes(body)


def _story(error: Exception) -> str:
    """What happened, without the host: messages end up beside verdicts."""
    number = getattr(error, "errno", None) or 0
    return os.strerror(number) if number > 0 else type(error).__name__


def new_client() -> httpx2.AsyncClient:
    """An httpx2 client over aiohttp that follows no redirects: they would carry the token."""
    return httpx2.AsyncClient(transport=AiohttpTransport(), timeout=None, trust_env=False)
