"""Asks a server whether it is ready, until it is or the time is over."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

from caliper.adapters.hosts.access import HostAccess

PACE = 0.5
"""Seconds between two looks at a server that is not ready."""
LOOK_SECONDS = 10.0
"""The longest that one look may take."""
_LARGEST = 4 * 1024 * 1024

Look = Callable[[], Awaitable[str]]
"""Looks once. Returns the problem, for people; empty if all is well."""


async def until_ready(look: Look, seconds: float) -> str:
    """Look until all is well, or the time is over. Returns the problem of the last look; empty if
    there is none. Raises what the look raises.
    """
    problem = "no answer"
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    try:
        async with asyncio.timeout_at(end):
            while problem := await look():  # noqa: ASYNC110 - another server's state
                await asyncio.sleep(PACE)
    except TimeoutError:
        return problem
    return ""


async def until_silent(look: Look, seconds: float) -> str:
    """Probe until there was no success for so many seconds, then return the last failure."""
    loop = asyncio.get_running_loop()
    last = loop.time()
    while True:
        problem = await look()
        if not problem:
            last = loop.time()
        elif loop.time() - last >= seconds:
            return problem
        await asyncio.sleep(min(PACE * 4, seconds / 4))


async def status_of(url: str, seconds: float = LOOK_SECONDS) -> str:
    """Look whether GET of a URL is answered with 200: empty if so, else the problem."""
    status, _, problem = await call("GET", url, seconds=seconds)
    return problem or ("" if status == 200 else f"HTTP {status}")


async def call(
    method: str,
    url: str,
    body: Any = None,
    *,
    access: HostAccess | None = None,
    seconds: float = LOOK_SECONDS,
) -> tuple[int, Any, str]:
    """One request: its status and its JSON, or text if it is not JSON; or status 0 and why there
    is no answer, -1 after a time-out. Redirects are not followed: they would carry the token.
    Raises InvalidInput for a server that may not be called, or not with its token.
    """
    timeout = aiohttp.ClientTimeout(total=seconds)
    headers, tls = (access.headers(url), access.tls(url)) if access else ({}, True)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.request(method, url, json=body, ssl=tls, allow_redirects=False) as response,
        ):
            text = await _text(response)
    except TimeoutError:
        return -1, None, f"no answer in {seconds:g} seconds"
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # Without the URL: errors are shown, and it may hold a secret.
        number = getattr(error, "errno", None) or 0
        return 0, None, os.strerror(number) if number > 0 else type(error).__name__
    try:
        return response.status, json.loads(text), ""
    except ValueError:
        return response.status, text, ""


async def _text(response: aiohttp.ClientResponse) -> str:
    """The body, cut at a size that no answer has."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) >= _LARGEST:
            break
    return body.decode("utf-8", "replace")
