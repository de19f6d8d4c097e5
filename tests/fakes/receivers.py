"""A receiver of webhooks on a free loopback port, which answers by a script of statuses."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

HANG = 0
"""In a script: never answer."""
SECRET = "a secret of tests"


@dataclass(frozen=True, slots=True)
class Posted:
    """A request: its path, headers and body."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def fields(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    @property
    def notice(self) -> str:
        """Checkpoint and kind of a notice."""
        data = self.fields["data"]
        return f"{data['checkpoint']} {data['kind']}"


@dataclass
class Receiver:
    """The receiver; when the `script` has run out, it answers 200. The path `refused` gets 503.
    `wait` is a header Retry-After.
    """

    script: Iterable[int] = ()
    refused: str = ""
    wait: str = ""
    posted: list[Posted] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._statuses = iter(self.script)
        app = web.Application()
        app.router.add_post("/{path:.*}", self._post)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.02
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/hook"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _post(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.posted.append(Posted(request.path, headers, await request.read()))
        status = 503 if request.path == self.refused else next(self._statuses, 200)
        if status == HANG:
            await asyncio.Event().wait()
        given = {"Location": self.url + "/elsewhere"}
        if self.wait:
            given["Retry-After"] = self.wait
        return web.Response(status=status, headers=given)
