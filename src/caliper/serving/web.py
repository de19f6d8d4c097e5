"""HTTP servers. That of pages is read-only, for browsers on this machine only.

As there are no tokens, other access is prevented: it listens on loopback, accepts only Host
headers that name this machine (against DNS rebinding), and tells browsers not to share its
responses with other sites.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from caliper.core.errors import InvalidInput, error_policy
from caliper.core.rows import note_of
from caliper.serving.addresses import Address, refuse_remote

_LOG = logging.getLogger(__name__)
_SERVER_LOG = logging.getLogger(f"{__name__}.requests")
"""The log of the HTTP servers themselves. A malformed request, or one whose first line is too long,
is answered with 400 and not logged: operators can do nothing about it.
"""
_SERVER_LOG.addFilter(
    lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))
)
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
"""Renders an error response from a status and a reason."""


@asynccontextmanager
async def listening(
    application: web.Application, address: Address, field: str, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Address]:
    """Serve while the context lasts. Yields the address with the actual port.

    Raises InvalidInput naming `field` when the address is taken.
    """
    # A client that disconnects cancels its work, such as a comparison of large runs.
    runner = web.AppRunner(
        application,
        logger=_SERVER_LOG,
        access_log=None,
        shutdown_timeout=_GRACE,
        handler_cancellation=True,
    )
    await runner.setup()
    try:
        # localhost may resolve to two addresses, and each would get its own port.
        host = "127.0.0.1" if address.host == "localhost" else address.host
        try:
            await web.TCPSite(runner, host, address.port, ssl_context=tls).start()
        except OSError as error:
            message = f"cannot listen on {address}: {error.strerror or error}"
            raise InvalidInput(message, field=field) from error
        yield replace(address, port=runner.addresses[0][1])
    finally:
        await runner.cleanup()


class WebServer:
    """Serves routes until cancelled; errors get their status from the table of failures.

    `field` names the address in errors.
    """

    def __init__(
        self,
        address: Address,
        routes: Iterable[web.RouteDef],
        trouble: Trouble,
        field: str = "page_address",
    ) -> None:
        refuse_remote(address, field)
        self._routes, self._trouble, self._field = tuple(routes), trouble, field
        self.address = address
        self.started = asyncio.Event()

    async def run(self) -> None:
        """Listen, log the address, and serve. Raises InvalidInput when the address is taken."""
        application = web.Application(middlewares=[self._guard])
        application.router.add_routes(self._routes)
        async with listening(application, self.address, self._field) as self.address:
            _LOG.info("pages on http://%s/", self.address)
            self.started.set()
            await asyncio.Event().wait()

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Any]
    ) -> web.StreamResponse:
        response = await self._answer(request, handler)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    async def _answer(
        self, request: web.Request, handler: Callable[[web.Request], Any]
    ) -> web.StreamResponse:
        refusal = _refusal(request.headers)
        if refusal:
            return self._trouble(403, refusal)
        try:
            async with asyncio.timeout(_DEADLINE):
                response: web.StreamResponse = await handler(request)
                return response
        except web.HTTPException as error:
            answer = self._trouble(error.status, _REASONS.get(error.status, error.reason))
            if hdrs.ALLOW in error.headers:
                answer.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
            return answer
        except TimeoutError:
            return self._trouble(504, "This took too long.")
        except Exception as error:  # noqa: BLE001 - every error is rendered as a page
            return self._failure(error)

    def _failure(self, error: Exception) -> web.Response:
        status = _STATUS.get(error_policy(error).grpc_status or "", 500)
        if status == 500:
            _LOG.error("a page failed", exc_info=error)
            return self._trouble(500, "Something failed here; the service's log says more.")
        # `note_of` names files, never folders.
        message = note_of(error) if isinstance(error, InvalidInput) else str(error)
        return self._trouble(status, message)


_REASONS = {404: "There is no such page.", 405: "These pages are read-only."}


def _refusal(headers: Mapping[str, str]) -> str:
    """Why a request is refused; empty if it may come from a person on this machine."""
    if not _names_this_machine(headers.get(hdrs.HOST, "")):
        return "These pages are for browsers on this machine: use localhost or 127.0.0.1."
    # Links from other sites are allowed; their subresource and script requests are not.
    cross_site = headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    if cross_site and headers.get("Sec-Fetch-Mode") != "navigate":
        return "Other sites may only link to these pages."
    return ""


def _names_this_machine(host: str) -> bool:
    """Whether a Host header names this machine, at any port, as ports may be forwarded."""
    return Address(_host_name(host), 0).loopback


def _host_name(host: str) -> str:
    """The name in a Host header, without its port; empty if there is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def own_names_only(address: Address) -> Middleware:
    """Refuses requests by other names than those of a server at `address`, against DNS rebinding.

    Its names are IP addresses, the host of `address`, that of this machine, and names without a
    dot, as in a network of containers: a page of another site can come by none of them.
    """
    own = {address.host.lower(), socket.gethostname().lower()}

    @web.middleware
    async def refuse(request: web.Request, handler: Handler) -> web.StreamResponse:
        name = _host_name(request.headers.get(hdrs.HOST, ""))
        _, dot, last = name.rpartition(".")
        # Only an IP address ends in a number.
        if name in own or (name and not dot) or last.isdigit():
            return await handler(request)
        text = f"{name!r:.80} is not a name of this server: use its IP address\n"
        return web.Response(status=403, text=text)

    return refuse
