"""The HTTP server of pages, for people at this machine: read-only, and for their browsers alone.

There are no tokens, so nobody else gets in: it listens on loopback, answers only what was
addressed to this machine by name (a page elsewhere whose name was made to point here is refused),
and tells browsers to give its answers to no other page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from aiohttp import hdrs, web

from caliper.adapters.http_log import LOG
from caliper.core.errors import InvalidInput, handling
from caliper.core.rows import note_of
from caliper.serving.addresses import Address, refuse_far

_LOG = logging.getLogger(__name__)
_GRACE = 1.0
_DEADLINE = 300.0
_STATUS = {
    "INVALID_ARGUMENT": 400,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "FAILED_PRECONDITION": 409,
    "RESOURCE_EXHAUSTED": 503,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "caliper",
}

Trouble = Callable[[int, str], web.Response]
"""The answer that tells people of a status and why."""


class WebServer:
    """Serves routes until it is cancelled; failures are told by the table of failures."""

    def __init__(self, address: Address, routes: Iterable[web.RouteDef], trouble: Trouble) -> None:
        refuse_far(address, "page_address")
        self._routes, self._trouble = tuple(routes), trouble
        self.address = address
        self.started = asyncio.Event()

    async def run(self) -> None:
        """Listen, say where, and serve. Raises InvalidInput when the address is taken."""
        application = web.Application(middlewares=[self._guard])
        application.router.add_routes(self._routes)
        # Who leaves takes the work along: a comparison of large runs is for nobody then.
        runner = web.AppRunner(
            application,
            logger=LOG,
            access_log=None,
            shutdown_timeout=_GRACE,
            handler_cancellation=True,
        )
        await runner.setup()
        try:
            await self._listen(runner)
            _LOG.info("pages on http://%s/", self.address)
            self.started.set()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        # The name may stand for two addresses, each of which would get a port of its own.
        host = "127.0.0.1" if self.address.host == "localhost" else self.address.host
        try:
            await web.TCPSite(runner, host, self.address.port).start()
        except OSError as error:
            reason = error.strerror or error
            message = f"cannot listen on {self.address}: {reason}"
            raise InvalidInput(message, field="page_address") from error
        self.address = replace(self.address, port=runner.addresses[0][1])

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Any]
    ) -> web.StreamResponse:
        found = await self._answer(request, handler)
        for name, value in _HEADERS.items():
            found.headers.setdefault(name, value)
        return found

    async def _answer(
        self, request: web.Request, handler: Callable[[web.Request], Any]
    ) -> web.StreamResponse:
        refused = _refusal(request.headers)
        if refused:
            return self._trouble(403, refused)
        try:
            async with asyncio.timeout(_DEADLINE):
                found: web.StreamResponse = await handler(request)
                return found
        except web.HTTPException as error:
            answer = self._trouble(error.status, _PLAIN.get(error.status, error.reason))
            if hdrs.ALLOW in error.headers:
                answer.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
            return answer
        except TimeoutError:
            return self._trouble(504, "This took too long.")
        except Exception as error:  # noqa: BLE001 - whatever it is, people are told of it
            return self._failure(error)

    def _failure(self, error: Exception) -> web.Response:
        status = _STATUS.get(handling(error).grpc_status or "", 500)
        if status == 500:
            _LOG.error("a page failed", exc_info=error)
            return self._trouble(500, "Something failed here; the service's log says more.")
        # It names files, never folders.
        told = note_of(error) if isinstance(error, InvalidInput) else str(error)
        return self._trouble(status, told)


_PLAIN = {404: "There is no such page.", 405: "Pages can only be read here."}


def _refusal(headers: Mapping[str, str]) -> str:
    """Why a request is none of a person's at this machine; empty when it may be."""
    if not _ours(headers.get(hdrs.HOST, "")):
        return "These pages are for browsers at this machine: call them by localhost or 127.0.0.1."
    # A link may lead here from anywhere; what another page loads or posts by itself may not.
    elsewhere = headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    if elsewhere and headers.get("Sec-Fetch-Mode") != "navigate":
        return "Other pages may link here, and no more."
    return ""


def _ours(host: str) -> bool:
    """Whether a Host header names this machine, at whatever port: it may be forwarded."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return Address(name, 0).loopback
