import asyncio
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer


class Meter:
    """A step of a ChatServer that answers `allowed` requests with "1", and more when allowed."""

    def __init__(self, allowed: int) -> None:
        self._left = asyncio.Semaphore(allowed)

    def allow(self, more: int = 1_000_000) -> None:
        for _ in range(min(more, 10_000)):
            self._left.release()

    async def __call__(
        self, server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        await self._left.acquire()
        return await answer("1")(server, request, body)
