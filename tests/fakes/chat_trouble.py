"""Misbehaviour of a chat server: steps for tests.fakes.chat_server that break off, never end, or
send invalid answers.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from contextlib import suppress
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, Step, completion, raw


def html() -> Step:
    """The error page of a proxy in front of a dead server, with status 200."""
    return raw(b"<html><body><h1>1 moment please</h1></body></html>", "text/html")


def half_utf8() -> Step:
    """A body that ends in the middle of a character."""
    return raw(json.dumps(completion("caf\u00e9"), ensure_ascii=False).encode().split(b"\xa9")[0])


def cut_body() -> Step:
    """Announces a whole completion, sends half of it and closes the connection."""
    body = json.dumps(completion("1")).encode()

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        return _cut(request, response)

    return step


def cut_at_once(word: bytes = b"") -> Step:
    """Closes the connection without an answer, or after bytes that are not HTTP."""

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        if word and request.transport is not None:
            request.transport.write(word)
        return _cut(request, web.Response())

    return step


def _cut(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Close the connection of `request`; the returned response is never sent."""
    if request.transport is not None:
        request.transport.close()
    return response


def slow_headers() -> Step:
    """Starts sending headers and never finishes."""

    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> web.Response:
        if request.transport is not None:
            request.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: app")
        return await _for_ever()

    return step


def endless(piece: bytes = b" ") -> Step:
    """A reply with a valid beginning that repeats a piece for ever; stops when its reader does."""

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"choices": [{"message": {"content": "')
        with suppress(ConnectionError):
            while True:
                await response.write(piece)
                await asyncio.sleep(0)
        return response

    return step


def bomb(unpacked: int) -> Step:
    """A small compressed reply that expands to this many bytes; whoever reads them all finds that
    its end is missing.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, other = (
        packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    return raw(first + other * (unpacked // 2**20 - 1), encoding="gzip")


async def _for_ever() -> web.Response:
    await asyncio.Event().wait()
    raise AssertionError("an event that nobody sets was set")


def never() -> Step:
    """Never answers; ends when the client goes away."""

    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> web.Response:
        return await _for_ever()

    return step
