"""The receiver of webhooks that announce checkpoints: on loopback, or anywhere by TLS."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from aiohttp import web

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import InvalidInput, NotReady, StoreUnavailable
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.webhooks import SENDERS
from caliper.serving.addresses import Address, refuse_remote
from caliper.serving.web import listening

_LOG = logging.getLogger(__name__)
_LARGEST_BODY = 256 * 1024
_DEADLINE = 30.0


class WebhookReceiver:
    """Registers what senders announce at /webhooks/NAME in the suites of these names, or in all.
    `secret_of` gives the secret of a sender; without one, it is refused.
    """

    def __init__(
        self,
        book: Administration,
        suites: Sequence[str],
        secret_of: Callable[[str], str | None],
    ) -> None:
        self._book, self._suites, self._secret_of = book, suites, secret_of
        self._tasks = set[asyncio.Task[list[str]]]()

    def listening(
        self, address: Address, field: str, tls: ssl.SSLContext | None = None
    ) -> AbstractAsyncContextManager[Address]:
        """Serve while the context lasts; it gives the actual address. Raises InvalidInput naming
        `field` for an address that is taken, or that other machines can reach without TLS: Hugging
        Face sends its secret as it is.
        """
        if tls is None:
            refuse_remote(address, field)
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_post("/webhooks/{sender}", self._receive)
        return listening(application, address, field, tls)

    async def _receive(self, request: web.Request) -> web.Response:
        name = request.match_info["sender"]
        sender = SENDERS.get(name)
        secret = self._secret_of(name) if sender else ""
        if sender is None or not secret:
            return web.Response(status=404)
        try:
            async with asyncio.timeout(_DEADLINE):
                body = await request.read()
                if not sender.is_genuine(secret.encode(), request.headers, body):
                    return web.Response(status=401)
                checkpoints = sender.read(body)
                states = await asyncio.shield(self._registering(checkpoints))
        except InvalidInput as error:
            _LOG.warning("a webhook of %s announced nothing usable: %s", name, error)
            return _json(400, error=error.message)
        except NotReady as error:
            return _json(409, error=str(error))
        except (StoreUnavailable, TimeoutError):
            # The sender tries again.
            return web.Response(status=503)
        return _json(200, checkpoints=len(checkpoints), states=states)

    def _registering(self, checkpoints: Sequence[CheckpointRevision]) -> asyncio.Task[list[str]]:
        # A sender may give up before a slow store does, and announce nothing again.
        task = asyncio.create_task(self._register(checkpoints))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _register(self, checkpoints: Sequence[CheckpointRevision]) -> list[str]:
        try:
            made = [await self._book.register(each, self._suites) for each in checkpoints]
        except StoreUnavailable as error:
            _LOG.warning("an announced checkpoint could not be registered: %s", error)
            raise
        return [str(entry.state) for entries in made for entry, _ in entries]


def _json(status: int, **fields: object) -> web.Response:
    text = json.dumps(fields)
    return web.Response(status=status, text=text, content_type="application/json")
